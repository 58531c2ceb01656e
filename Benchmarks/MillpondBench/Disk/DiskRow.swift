/// A line of the table: a measurement of the cache.
struct DiskRow {
  let subject: Subject

  enum Subject: Equatable {
    case operation(Operation, ValueSize)
    case weight(Weight, ValueSize)
    case opening(Opening)
    case overwriting(Overwriting)
  }

  /// The operation on each of many values.
  enum Operation: String, CaseIterable {
    case put
    case get
    case contains
    case remove
  }

  /// The weight of an entry on disk or in memory.
  enum Weight: String, CaseIterable {
    case allocated
    case length
    case heap
  }

  /// The state of the folder to open, and its number of entries.
  struct Opening: Equatable {
    let isClosed: Bool
    let count: Int
  }

  /// The figure of a run that sets every key again and again.
  enum Overwriting: String, CaseIterable {
    case written
    case kept
    case setMedian = "set-p50"
    case setLate = "set-p99"
    case setLatest = "set-max"
    case outcomeMedian = "outcome-p50"
    case outcomeLate = "outcome-p99"
    case outcomeLatest = "outcome-max"
  }

  /// The targets of a row; nil for a figure without one.
  struct Targets: Encodable, Equatable {
    /// The upper bound in the unit of the row.
    var ours: Double?

    /// The upper bound as a multiple of one file.
    var oneFile: Double?

    /// The upper bound as a multiple of a file for each value.
    var fileEach: Double?

    /// The upper bound as a multiple of Foundation.
    var foundation: Double?
  }

  /// Every row, in the order of the table: those that share their values together.
  static let all: [DiskRow] = {
    let ofSizes = ValueSize.allCases.flatMap { size in
      Operation.allCases.map { Subject.operation($0, size) }
        + (size.isWeighed ? Weight.allCases.map { .weight($0, size) } : [])
    }
    let openings = [true, false].flatMap { isClosed in
      [10_000, 200_000].map { Subject.opening(Opening(isClosed: isClosed, count: $0)) }
    }
    let subjects = ofSizes + openings + Overwriting.allCases.map { .overwriting($0) }
    return subjects.map(DiskRow.init)
  }()

  /// The name of the row, such as `disk-get-16k`.
  var name: String {
    switch subject {
    case .operation(let operation, let size): "disk-\(operation)-\(size.name)"
    case .weight(let weight, let size): "disk-\(weight)-\(size.name)"
    case .opening(let opening):
      "disk-open-\(opening.isClosed ? "hint" : "scan")-\(opening.count / 1_000)k"
    case .overwriting(let figure): "disk-overwrite-\(figure.rawValue)"
    }
  }

  var summary: String {
    switch subject {
    case .operation(let operation, let size): "\(operation.title), values of \(size.title)"
    case .weight(let weight, let size): "\(weight.title), values of \(size.title)"
    case .opening(let opening):
      "opening a folder of \(opening.count) entries of 200 bytes that was "
        + (opening.isClosed ? "closed" : "left by a crash")
    case .overwriting(let figure): "ten sets of every key: \(figure.title)"
    }
  }

  var unit: String {
    switch subject {
    case .operation: "µs"
    case .weight: "bytes"
    case .opening: "ms"
    case .overwriting(.written): "×"
    case .overwriting(.kept): "%"
    case .overwriting: "µs"
    }
  }

  /// - Parameter isInMemory: Whether the files are in memory only, so that no call waits for a
  ///   disk.
  func targets(isInMemory: Bool) -> Targets {
    switch subject {
    case .operation(.put, let size) where size.isSmall:
      Targets(oneFile: 2, foundation: isInMemory ? nil : 0.05)
    case .operation(.get, .of100), .operation(.get, .of1K): Targets(oneFile: 4)
    case .operation(.put, let size) where !size.isSmall: Targets(fileEach: 1.1)
    case .operation(.get, let size) where !size.isSmall: Targets(fileEach: 1.1)
    case .opening(let opening) where opening.count == 200_000:
      Targets(ours: opening.isClosed ? 25 : 30)
    default: Targets()
    }
  }
}

extension DiskRow.Subject {
  /// The size of the row's values; nil if it makes its own.
  var size: ValueSize? {
    switch self {
    case .operation(_, let size), .weight(_, let size): size
    case .opening, .overwriting: nil
    }
  }
}

extension DiskRow.Operation {
  fileprivate var title: String {
    switch self {
    case .put: "a put, with its share of the final flush"
    case .get: "a get, many at once in random order"
    case .contains: "a test for a value, many at once in random order"
    case .remove: "a removal, with its share of the final flush"
    }
  }
}

extension DiskRow.Weight {
  fileprivate var title: String {
    switch self {
    case .allocated: "disk bytes per entry, after closing"
    case .length: "file bytes per entry, after closing"
    case .heap: "memory bytes per entry, while open"
    }
  }
}

extension DiskRow.Overwriting {
  fileprivate var title: String {
    switch self {
    case .written: "bytes written ÷ bytes set"
    case .kept: "percentage of keys that still have a value"
    case .setMedian: "duration of a set, median"
    case .setLate: "duration of a set, 99th percentile"
    case .setLatest: "duration of a set, longest"
    case .outcomeMedian: "time to the outcome, median"
    case .outcomeLate: "time to the outcome, 99th percentile"
    case .outcomeLatest: "time to the outcome, longest"
    }
  }
}
