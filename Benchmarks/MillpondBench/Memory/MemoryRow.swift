/// A line of the matrix: an operation, its kind of keys, their number, and the number of threads.
struct MemoryRow {
  let operation: Operation
  let kind: KeyKind
  let size: Int
  let threads: Int

  enum Operation: String, CaseIterable {
    case hit
    case miss
    case insert
    case mixed
    case bytes
  }

  /// The targets of a row; nil for a figure without one.
  struct Targets: Encodable, Equatable {
    /// The upper bound in the unit of the row.
    var ours: Double?

    /// The upper bound as a multiple of the dictionary.
    var dictionary: Double?

    /// The upper bound as a multiple of NSCache.
    var nsCache: Double?
  }

  static let sizes = [1_000, 100_000, 1_000_000]

  /// Every row, in the order of the table: those that share their keys together.
  static let all = KeyKind.allCases.flatMap { kind in
    sizes.flatMap { size in rows(kind, size) }
  }

  private static func rows(_ kind: KeyKind, _ size: Int) -> [MemoryRow] {
    let timed = Operation.allCases.filter { $0 != .bytes }.flatMap { operation in
      [1, 2].map { MemoryRow(operation: operation, kind: kind, size: size, threads: $0) }
    }
    let weighed = MemoryRow(operation: .bytes, kind: kind, size: size, threads: 1)
    return kind == .str && size == 100_000 ? timed + [weighed] : timed
  }

  /// The name of the row, such as `memory-hit-str-100k`, with `-2` for two threads.
  var name: String {
    "memory-\(operation)-\(kind)-\(sizeName)" + (threads == 1 ? "" : "-\(threads)")
  }

  var summary: String {
    let what = "\(operation.title), \(kind.title), \(sizeName) entries"
    return threads == 1 ? what : "\(what), \(threads) threads"
  }

  var targets: Targets {
    switch (operation, kind, size, threads) {
    case (.hit, .str, 1_000, 1): Targets(dictionary: 0.75, nsCache: 0.15)
    case (.hit, .str, 100_000, 1): Targets(dictionary: 1, nsCache: 0.15)
    case (.hit, .str, 100_000, 2): Targets(dictionary: 0.5)
    case (.insert, .str, 1_000, 1): Targets(nsCache: 0.06)
    case (.bytes, .str, 100_000, 1): Targets(ours: 80)
    default: Targets()
    }
  }

  private var sizeName: String {
    switch size {
    case 1_000_000...: "\(size / 1_000_000)m"
    case 1_000...: "\(size / 1_000)k"
    default: "\(size)"
    }
  }
}

extension MemoryRow.Operation {
  var unit: String {
    self == .bytes ? "bytes" : "ns"
  }

  fileprivate var title: String {
    switch self {
    case .hit: "a hit"
    case .miss: "a miss"
    case .insert: "a new key in a full cache"
    case .mixed: "95 % hits and 5 % writes by Zipf's law"
    case .bytes: "bytes per entry"
    }
  }
}
