/// The result of one look at the system's memory.
struct MemoryReadings: Sendable, Equatable {
  /// The use under the tighter of the group limits and the machine's memory.
  var room: MemoryUse?

  var stall: MemoryStall?

  var isEmpty: Bool { room == nil && stall == nil }
}

/// An amount of memory in use, and its limit.
struct MemoryUse: Sendable, Equatable {
  /// The memory in use, in bytes.
  let used: Int

  /// The limit in bytes, greater than zero.
  let limit: Int

  /// Creates a use; nil if the limit is zero or less.
  init?(used: Int, limit: Int) {
    guard limit > 0 else { return nil }
    self.used = max(0, used)
    self.limit = limit
  }

  /// Creates the use of the machine from `/proc/meminfo`.
  init?(meminfo text: String) {
    guard let total = KernelFileParser.kibibytes(of: "MemTotal:", in: text),
      let available = KernelFileParser.kibibytes(of: "MemAvailable:", in: text), available <= total
    else { return nil }
    self.init(used: total - available, limit: total)
  }

  /// The share of the limit in use: 1 is all, and more if the limit was lowered below the use.
  var usedShare: Double {
    Double(used) / Double(limit)
  }
}

/// The percentages of the last ten seconds during which tasks waited for memory.
struct MemoryStall: Sendable, Equatable {
  /// The percentage during which at least one task waited.
  let some: Double

  /// The percentage during which all tasks with work waited.
  let full: Double

  /// Creates a stall from `/proc/pressure/memory` or `memory.pressure`.
  init?(pressure text: String) {
    guard let some = KernelFileParser.average(of: "some", in: text),
      let full = KernelFileParser.average(of: "full", in: text)
    else { return nil }
    self.some = some
    self.full = full
  }
}
