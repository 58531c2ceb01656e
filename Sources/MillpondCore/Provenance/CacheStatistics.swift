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

  /// The number of gets that failed, without those that were refused.
  public internal(set) var failures = 0

  /// The number of gets that were refused before they began.
  ///
  /// By an open circuit, a limit of waiting gets or a condition. They say nothing about the layer,
  /// and have no time.
  public internal(set) var refusals = 0

  /// The number of flights that were started.
  public internal(set) var flights = 0

  /// The number of gets that joined a flight instead of starting one.
  public internal(set) var joins = 0

  /// The number of values from a lower layer that could not be stored.
  public internal(set) var failedFills = 0

  /// The number of writes that failed.
  public internal(set) var failedWrites = 0

  /// The durations of hits, misses and failures, where they were measured: not for immediate
  /// answers.
  public internal(set) var times = Histogram()

  /// The share of gets that found a value, from 0 to 1; 0 if there were none.
  ///
  /// Refused gets are left out.
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
    case .failed(let error) where error.isRefusal:
      refusals += 1
      return
    case .failed: failures += 1
    case .started: flights += 1
    case .joined: joins += 1
    case .fillFailed: failedFills += 1
    case .writeFailed: failedWrites += 1
    case .circuitOpened, .circuitClosed: break
    }
    if let nanoseconds = event.nanoseconds { times.add(nanoseconds: Int(nanoseconds)) }
  }
}

extension CacheStatistics {
  /// The counters that are sums.
  private static var counters: [WritableKeyPath<CacheStatistics, Int>] {
    [
      \.hits, \.misses, \.tooOld, \.undecodable, \.revalidations, \.failures, \.refusals, \.flights,
      \.joins, \.failedFills, \.failedWrites,
    ]
  }

  /// Returns the sum of the counts of two monitors.
  package static func + (one: CacheStatistics, other: CacheStatistics) -> CacheStatistics {
    var sum = one
    for counter in counters { sum[keyPath: counter] += other[keyPath: counter] }
    sum.times.add(other.times)
    return sum
  }
}

extension Error {
  /// Whether a get was not begun.
  fileprivate var isRefusal: Bool {
    switch self as? CacheError {
    case .tooManyWaiting, .circuitOpen, .refused: true
    default: false
    }
  }
}

/// A histogram of durations: sixteen buckets of equal width between two powers of two in
/// nanoseconds, so that a duration is known to a sixteenth.
///
/// - Source: the log-linear buckets of HdrHistogram.
public struct Histogram: Sendable, Hashable {
  /// The number of durations.
  public private(set) var count = 0

  /// The longest duration.
  public var longest: Duration {
    .nanoseconds(longestNanoseconds)
  }

  private var longestNanoseconds = 0

  /// The sum of all durations; at most 292 years.
  public var sum: Duration {
    .nanoseconds(sumOfNanoseconds)
  }

  private var sumOfNanoseconds = 0

  /// The counts by the place of the duration.
  private var buckets: [Int] = []

  /// Creates an empty histogram.
  public init() {}

  /// Adds a duration; a negative one counts as zero.
  public mutating func add(_ duration: Duration) {
    add(nanoseconds: duration.nanoseconds)
  }

  mutating func add(nanoseconds: Int) {
    let nanoseconds = max(0, nanoseconds)
    let place = Self.place(of: nanoseconds)
    if buckets.count <= place {
      buckets.append(contentsOf: repeatElement(0, count: place + 1 - buckets.count))
    }
    buckets[place] += 1
    count += 1
    longestNanoseconds = max(longestNanoseconds, nanoseconds)
    sumOfNanoseconds = saturatedSum(sumOfNanoseconds, nanoseconds)
  }

  fileprivate mutating func add(_ other: Histogram) {
    let size = max(buckets.count, other.buckets.count)
    buckets += repeatElement(0, count: size - buckets.count)
    for (place, amount) in other.buckets.enumerated() { buckets[place] += amount }
    count += other.count
    longestNanoseconds = max(longestNanoseconds, other.longestNanoseconds)
    sumOfNanoseconds = saturatedSum(sumOfNanoseconds, other.sumOfNanoseconds)
  }

  /// Returns the number of durations that are no longer than a bound, to a sixteenth of it.
  func count(upTo nanoseconds: Int) -> Int {
    buckets.prefix(Self.place(of: nanoseconds) + 1).reduce(0, +)
  }

  /// The number of bits by which a bucket is chosen within its power of two.
  private static var fineBits: Int { 4 }

  /// Returns the bucket of a duration; those of less than two sixteens have one each.
  private static func place(of nanoseconds: Int) -> Int {
    let shift = Int.bitWidth - nanoseconds.leadingZeroBitCount - fineBits - 1
    return shift <= 0 ? nanoseconds : shift << fineBits + nanoseconds >> shift
  }

  /// Returns the longest duration of a bucket.
  private static func longest(in place: Int) -> Int {
    let shift = place >> fineBits - 1
    if shift <= 0 { return place }
    let start = place - shift << fineBits
    return start << shift + (1 << shift - 1)
  }

  /// Returns a duration that the given share of durations does not exceed, rounded up by less than a
  /// sixteenth, but at most the longest.
  ///
  /// - Parameter share: The share, clamped to between 0 and 1; a half gives the median.
  /// - Returns: The duration; zero if there are none.
  public func quantile(_ share: Double) -> Duration {
    let wanted = Double(count) * min(1, max(0, share))
    var passed = 0
    for (place, amount) in buckets.enumerated() {
      passed += amount
      if amount > 0, Double(passed) >= wanted {
        return min(longest, .nanoseconds(Self.longest(in: place)))
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
      failures == 0 ? nil : "\(failures) failures", refusals == 0 ? nil : "\(refusals) refused",
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
