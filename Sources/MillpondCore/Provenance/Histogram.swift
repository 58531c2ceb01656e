import MillpondSignals

/// How many durations fell between one power of two and the next, in nanoseconds.
public struct Histogram: Sendable, Hashable {
  /// How many there are.
  public private(set) var count = 0

  /// The longest of them.
  public private(set) var longest = Duration.zero

  /// By the number of bits of their nanoseconds.
  private var buckets: [Int] = []

  /// A histogram of nothing.
  public init() {}

  /// Counts one more; less than zero is taken as zero.
  public mutating func add(_ duration: Duration) {
    let bits = Int.bitWidth - duration.nanoseconds.leadingZeroBitCount
    while buckets.count <= bits { buckets.append(0) }
    buckets[bits] += 1
    count += 1
    longest = max(longest, duration)
  }

  /// A duration that the given share of them did not exceed, rounded up to the next power of two, though
  /// not beyond the longest.
  ///
  /// - Parameter share: From 0 to 1: a half gives the median. What is outside counts as the limit.
  /// - Returns: Zero if there are none.
  public func quantile(_ share: Double) -> Duration {
    let wanted = Double(count) * min(1, max(0, share))
    var passed = 0
    for (bits, amount) in buckets.enumerated() {
      passed += amount
      if amount > 0, Double(passed) >= wanted {
        return min(longest, .nanoseconds(bits >= 63 ? .max : (Int64(1) << Int64(bits)) - 1))
      }
    }
    return .zero
  }
}
