/// The statistics of a memory cache since its creation.
public struct MemoryStatistics: Sendable, Hashable {
  /// The number of gets that found a value.
  public var hits = 0

  /// The number of gets that found no value, or one that was too old.
  public var misses = 0

  /// The number of values that were stored, including those that replaced others.
  public var insertions = 0

  /// The number of values that were not stored: too costly, or not worth the evictions.
  public var rejections = 0

  /// The number of values that were evicted, or removed under memory pressure.
  public var evictions = 0

  /// The number of values that were removed because they had expired.
  public var expirations = 0

  /// Creates statistics with all counters at zero.
  public init() {}

  /// The share of gets that found a value, from 0 to 1; 0 if there were none.
  public var hitRatio: Double {
    hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses)
  }

  mutating func add(_ other: MemoryStatistics) {
    hits += other.hits
    misses += other.misses
    insertions += other.insertions
    rejections += other.rejections
    evictions += other.evictions
    expirations += other.expirations
  }
}
