/// The statistics of a disk cache since its folder was opened.
public struct DiskStatistics: Sendable, Hashable {
  /// The number of gets that found a usable value.
  public var hits = 0

  /// The number of gets that found no usable value.
  ///
  /// There was none, or it is expired, too old for the get's freshness, damaged or undecodable. A
  /// get that fails is neither a hit nor a miss.
  public var misses = 0

  /// The number of values that were stored, including those that replaced others.
  public var insertions = 0

  /// The number of values that were not stored: too large, or not worth the evictions.
  public var rejections = 0

  /// The number of values that were evicted.
  public var evictions = 0

  /// The number of values that were removed because they had expired.
  public var expirations = 0

  /// The number of damaged records that were found and removed.
  public var damages = 0

  /// The number of files of an older format that were removed, with the values in them, when the
  /// folder was opened: after an update of this library the cache may begin empty.
  public var outdatedFiles = 0

  /// The bytes written to the log and to files, copies included.
  public var bytesWritten = 0

  /// The bytes copied by compaction, to reclaim the space around them.
  public var bytesCopied = 0

  /// Creates statistics with all counters at zero.
  public init() {}

  /// The share of hits among hits and misses, from 0 to 1; 0 if there were none.
  public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
}
