/// What one look has found out about memory.
struct MemoryReadings: Sendable, Equatable {
  /// Of what is allowed or there, whichever is tighter.
  var room: MemoryUse?

  var stall: MemoryStall?

  var isEmpty: Bool { room == nil && stall == nil }
}

/// How much memory is in use, of how much that may be.
struct MemoryUse: Sendable, Equatable {
  /// In bytes.
  let used: Int

  /// In bytes, more than zero.
  let limit: Int

  /// Nil for a limit that leaves no room for anybody to ask.
  init?(used: Int, limit: Int) {
    guard limit > 0 else { return nil }
    self.used = max(0, used)
    self.limit = limit
  }

  /// The machine's, as `/proc/meminfo` tells it.
  init?(meminfo text: String) {
    guard let total = KernelText.kibibytes(of: "MemTotal:", in: text),
      let available = KernelText.kibibytes(of: "MemAvailable:", in: text), available <= total
    else { return nil }
    self.init(used: total - available, limit: total)
  }

  /// Of 1; more where the limit was lowered below the use.
  var usedShare: Double {
    Double(used) / Double(limit)
  }
}

/// For how many per cent of the last ten seconds tasks waited for memory.
struct MemoryStall: Sendable, Equatable {
  /// At least one did.
  let some: Double

  /// All did that had something to do.
  let full: Double

  /// As `/proc/pressure/memory` and `memory.pressure` tell it.
  init?(pressure text: String) {
    guard let some = KernelText.average(of: "some", in: text),
      let full = KernelText.average(of: "full", in: text)
    else { return nil }
    self.some = some
    self.full = full
  }
}
