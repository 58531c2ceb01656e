/// The hit ratios of a cache, of the least recently used one and of the optimum, on a trace at one
/// capacity.
struct HitRatioCell: Encodable {
  /// The limited quantity, and the counted one.
  enum Kind: String, Encodable, CaseIterable {
    case count
    case bytes
    case bytesHit

    /// The suffix of a trace's name.
    var suffix: String {
      switch self {
      case .count: ""
      case .bytes: ", bytes"
      case .bytesHit: ", bytes hit"
      }
    }
  }

  /// The least capacity that counts for the targets; smaller ones are only shown.
  static let leastCapacity = 100

  let trace: String
  let kind: Kind

  /// The capacity as a share of the trace's footprint, in percent.
  let percent: Double

  /// A number of values, or of bytes.
  let capacity: Int

  /// The ratio in percent of the accesses or of their bytes, as the others.
  let leastRecentlyUsed: Double
  let ours: Double

  /// The ratio of the optimum; nil if unknown, as the choice of values of different sizes is
  /// NP-hard.
  let optimum: Double?

  /// Whether it counts for the targets: it does if the trace knows no sizes, and the capacity is
  /// not tiny.
  let isCounted: Bool

  /// The gain over the least recently used cache, in percentage points.
  var gain: Double {
    ours - leastRecentlyUsed
  }

  /// The gain of the optimum, in percentage points.
  var greatestGain: Double? {
    optimum.map { $0 - leastRecentlyUsed }
  }

  /// Whether no cache exceeds the optimum.
  var isPossible: Bool {
    optimum.map { max(ours, leastRecentlyUsed) <= $0 } ?? true
  }

  /// The name of the trace and of the counted quantity.
  var label: String {
    trace + kind.suffix
  }
}
