import MillpondCore

/// What a disk cache has for a key, without the value.
public struct DiskEntry: Sendable, Hashable {
  /// The key.
  public let key: String

  /// How many bytes the value has on disk.
  public let byteCount: Int

  /// How long ago the value left its origin, by the calendar.
  public let age: Duration
}
