/// What a disk cache was found to hold when all of it was read.
public struct DiskReport: Sendable, Hashable {
  /// Values that are as they were written.
  public var goodValues = 0

  /// Values that are not, and have been dropped.
  public var damagedValues = 0

  /// How many bytes the good values have.
  public var byteCount = 0

  /// None of anything.
  public init() {}
}
