/// What a disk cache has done since its folder was opened.
public struct DiskStatistics: Sendable, Hashable {
  /// Questions that it had a value for.
  public var hits = 0

  /// Questions that it had none for, or one that was too old.
  public var misses = 0

  /// Values that were taken in, in the place of older ones too.
  public var insertions = 0

  /// Values that were not taken in: too large, or not worth what would have had to go.
  public var rejections = 0

  /// Values that went for room.
  public var evictions = 0

  /// Values that went for their age.
  public var expirations = 0

  /// Records that were not as they were written, and were dropped.
  public var damages = 0

  /// Bytes of values that it was told.
  public var bytesTold = 0

  /// Bytes that were written to the log and to files, what was copied included.
  public var bytesWritten = 0

  /// Bytes that were copied so that the room around them could be given back.
  public var bytesCopied = 0

  /// None of anything.
  public init() {}

  /// The share of the questions that were answered, from 0 to 1; 0 if there were none.
  public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
}
