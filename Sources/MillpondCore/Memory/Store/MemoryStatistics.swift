/// What a memory cache has done since it was made.
public struct MemoryStatistics: Sendable, Hashable {
  /// Questions that it had a value for.
  public var hits = 0

  /// Questions that it had none for, or one that was too old.
  public var misses = 0

  /// Values that were taken in, in the place of older ones too.
  public var insertions = 0

  /// Values that were not taken in: too costly, or not worth what would have had to go.
  public var rejections = 0

  /// Values that went for room, or because memory was short.
  public var evictions = 0

  /// Values that went for their age.
  public var expirations = 0

  /// None of anything.
  public init() {}

  /// The share of the questions that were answered, from 0 to 1; 0 if there were none.
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
