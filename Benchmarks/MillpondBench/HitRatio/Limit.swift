/// The capacity of a cache.
enum Limit: Equatable {
  case count(Int)
  case bytes(Int)

  func admits(count: Int, bytes: Int) -> Bool {
    switch self {
    case .count(let limit): count <= limit
    case .bytes(let limit): bytes <= limit
    }
  }

  /// Returns a share of a trace's keys in percent, at least one.
  static func count(_ percent: Double, of trace: Trace) -> Limit {
    .count(share(percent, of: trace.keyCount))
  }

  /// Returns a share of the bytes of a trace's keys in percent, at least one.
  static func bytes(_ percent: Double, of trace: Trace) -> Limit {
    .bytes(share(percent, of: trace.byteCount))
  }

  private static func share(_ percent: Double, of whole: Int) -> Int {
    max(1, Int((Double(whole) * percent / 100).rounded()))
  }

  var capacity: Int {
    switch self {
    case .count(let capacity), .bytes(let capacity): capacity
    }
  }
}
