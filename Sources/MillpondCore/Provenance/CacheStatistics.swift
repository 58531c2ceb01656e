import MillpondSignals

/// The counts of the events in a layer.
public struct CacheStatistics: Sendable, Hashable {
  /// Creates statistics with all counters at zero.
  package init() {}

  /// The number of gets that found a value.
  public internal(set) var hits = 0

  /// The number of gets that found no acceptable value.
  public internal(set) var misses = 0

  /// The number of misses with a value that was too old.
  public internal(set) var tooOld = 0

  /// The number of misses with a value that could not be decoded.
  public internal(set) var undecodable = 0

  /// The number of gets that confirmed the stored value of an upper layer; neither hits nor misses.
  public internal(set) var revalidations = 0

  /// The number of gets that failed.
  public internal(set) var failures = 0

  /// The number of failures of gets that were not begun: an open circuit, a limit of waiting gets,
  /// or a condition refused them.
  public internal(set) var refusals = 0

  /// The number of flights that were started.
  public internal(set) var flights = 0

  /// The number of gets that joined a flight instead of starting one.
  public internal(set) var joins = 0

  /// The number of values from a lower layer that could not be stored.
  public internal(set) var failedFills = 0

  /// The number of writes that failed.
  public internal(set) var failedWrites = 0

  /// The durations of answers, hits and misses, where they were measured: not for immediate
  /// answers.
  public internal(set) var times = Histogram()

  /// The share of gets that found a value, from 0 to 1; 0 if there were none.
  public var hitRatio: Double {
    let all = hits + misses + failures
    return all == 0 ? 0 : Double(hits) / Double(all)
  }

  package mutating func count(_ event: CacheEvent) {
    switch event.kind {
    case .hit: hits += 1
    case .miss: misses += 1
    case .tooOld: (misses, tooOld) = (misses + 1, tooOld + 1)
    case .undecodable: (misses, undecodable) = (misses + 1, undecodable + 1)
    case .revalidated: revalidations += 1
    case .failed(let error): (failures, refusals) = (failures + 1, refusals + error.refusals)
    case .started: flights += 1
    case .joined: joins += 1
    case .fillFailed: failedFills += 1
    case .writeFailed: failedWrites += 1
    }
    if let nanoseconds = event.nanoseconds { times.add(nanoseconds: Int(nanoseconds)) }
  }
}

extension Error {
  /// One for a get that was not begun, zero for others.
  fileprivate var refusals: Int {
    switch self as? CacheError {
    case .tooManyWaiting, .circuitOpen, .refused: 1
    default: 0
    }
  }
}

/// A histogram of durations, with a bucket for each power of two in nanoseconds.
public struct Histogram: Sendable, Hashable {
  /// The number of durations.
  public private(set) var count = 0

  /// The longest duration.
  public var longest: Duration {
    .nanoseconds(longestNanoseconds)
  }

  private var longestNanoseconds = 0

  /// The counts by the number of bits of the duration in nanoseconds.
  private var buckets: [Int] = []

  /// Creates an empty histogram.
  public init() {}

  /// Adds a duration; a negative one counts as zero.
  public mutating func add(_ duration: Duration) {
    add(nanoseconds: duration.nanoseconds)
  }

  mutating func add(nanoseconds: Int) {
    let nanoseconds = max(0, nanoseconds)
    let bits = Int.bitWidth - nanoseconds.leadingZeroBitCount
    while buckets.count <= bits { buckets.append(0) }
    buckets[bits] += 1
    count += 1
    longestNanoseconds = max(longestNanoseconds, nanoseconds)
  }

  /// Returns a duration that the given share of durations does not exceed, rounded up to one less
  /// than a power of two in nanoseconds, but at most the longest.
  ///
  /// - Parameter share: The share, clamped to between 0 and 1; a half gives the median.
  /// - Returns: The duration; zero if there are none.
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

extension CacheStatistics: CustomStringConvertible {
  /// The counts that are not zero, hits and misses in any case, and the times if any were measured:
  /// "170 hits, 20 misses (2 too old), 3 joins; median 190 ms, longest 1.2 s".
  public var description: String {
    let gets = [
      "\(hits) hits",
      "\(misses) misses" + details([(tooOld, "too old"), (undecodable, "undecodable")]),
      failures == 0 ? nil : "\(failures) failures" + details([(refusals, "refused")]),
    ]
    let others = [
      (revalidations, "revalidations"), (flights, "flights"), (joins, "joins"),
      (failedFills, "failed fills"), (failedWrites, "failed writes"),
    ]
    let counts = gets.compactMap { $0 } + others.filter { $0.0 > 0 }.map { "\($0) \($1)" }
    return counts.joined(separator: ", ") + (times.count == 0 ? "" : "; \(times)")
  }

  private func details(_ parts: [(count: Int, name: String)]) -> String {
    let named = parts.filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }
    return named.isEmpty ? "" : " (\(named.joined(separator: ", ")))"
  }
}

extension Histogram: CustomStringConvertible {
  /// The median and the longest duration: "median 190 µs, longest 1.2 s"; "none" without durations.
  public var description: String {
    count == 0 ? "none" : "median \(quantile(0.5).brief), longest \(longest.brief)"
  }
}
