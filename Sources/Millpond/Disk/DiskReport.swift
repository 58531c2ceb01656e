/// The result of reading a whole disk cache.
public struct DiskReport: Sendable, Hashable {
  /// The number of undamaged values.
  public var goodValues = 0

  /// The number of damaged values, which have been removed.
  public var damagedValues = 0

  /// The number of bytes of the undamaged values.
  public var byteCount = 0

  /// Creates a report with all counters at zero.
  public init() {}
}
