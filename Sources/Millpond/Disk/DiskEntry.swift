/// An entry of a disk cache, without its value.
public struct DiskEntry: Sendable, Hashable {
  /// The key.
  public let key: String

  /// The number of bytes of the value on disk.
  public let byteCount: Int

  /// The time since the value left its origin, by the calendar.
  public let age: Duration
}
