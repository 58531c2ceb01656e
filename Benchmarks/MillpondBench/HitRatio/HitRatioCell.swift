/// How a cache, the least recently used one and the optimum did on a trace at one capacity.
struct HitRatioCell: Encodable {
  /// What is limited, and what is counted.
  enum Kind: String, Encodable, CaseIterable {
    case count
    case bytes
    case bytesHit

    /// What is added to a trace's name.
    var suffix: String {
      switch self {
      case .count: ""
      case .bytes: ", bytes"
      case .bytesHit: ", bytes hit"
      }
    }
  }

  /// Smaller capacities than this are shown, and not counted.
  static let leastCapacity = 100

  let trace: String
  let kind: Kind

  /// How much of the trace's footprint the capacity is.
  let percent: Double

  /// A number of values, or of bytes.
  let capacity: Int

  /// In percent of the accesses, or of their bytes, as the others.
  let leastRecentlyUsed: Double
  let ours: Double

  /// Nil where it isn't known: which values of different sizes to keep is NP-hard.
  let optimum: Double?

  /// Whether it counts for the targets: it does if the trace knows no sizes, and the capacity is
  /// not tiny.
  let isCounted: Bool

  /// In points, of percent.
  var gain: Double {
    ours - leastRecentlyUsed
  }

  /// What the optimum gains, in points.
  var greatestGain: Double? {
    optimum.map { $0 - leastRecentlyUsed }
  }

  /// Whether nobody did better than can be done.
  var isPossible: Bool {
    optimum.map { max(ours, leastRecentlyUsed) <= $0 } ?? true
  }

  /// The trace, and what is counted of it.
  var label: String {
    trace + kind.suffix
  }
}
