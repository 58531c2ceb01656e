import MillpondSignals

/// How often what happened in a layer.
public struct CacheStatistics: Sendable, Hashable {
  /// Questions that it had a value for.
  public internal(set) var hits = 0

  /// Questions that it had none for, or none that would do.
  public internal(set) var misses = 0

  /// Of the misses, those with a value that was too old.
  public internal(set) var tooOld = 0

  /// Of the misses, those with a value that could not be decoded.
  public internal(set) var undecodable = 0

  /// Questions that it failed to answer.
  public internal(set) var failures = 0

  /// Flights that were started.
  public internal(set) var flights = 0

  /// Questions that joined a flight instead of starting one.
  public internal(set) var joins = 0

  /// Values from a lower layer that it could not store.
  public internal(set) var failedFills = 0

  /// Tellings that it could not carry out.
  public internal(set) var failedTellings = 0

  /// How long answers took, hit or miss, where it was measured: not for what was there at once.
  public internal(set) var times = Histogram()

  /// The share of the questions that were answered, from 0 to 1; 0 if there were none.
  public var hitRatio: Double {
    let all = hits + misses + failures
    return all == 0 ? 0 : Double(hits) / Double(all)
  }

  mutating func count(_ event: CacheEvent) {
    switch event.kind {
    case .hit: hits += 1
    case .miss: misses += 1
    case .tooOld: (misses, tooOld) = (misses + 1, tooOld + 1)
    case .undecodable: (misses, undecodable) = (misses + 1, undecodable + 1)
    case .failed: failures += 1
    case .started: flights += 1
    case .joined: joins += 1
    case .fillFailed: failedFills += 1
    case .tellingFailed: failedTellings += 1
    }
    if let duration = event.duration { times.add(duration) }
  }
}

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
