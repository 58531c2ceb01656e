/// The contents of a small file with the position up to which the log is on the device.
///
/// The first flush to the device makes it. Its existence tells later runs that a flush was made:
/// they synchronize before they remove anything, and check records after the position before they
/// trust them. Only the first position after each opening is itself synchronized. An older position
/// is true as well, but without any position the checkpoint would not be trusted, and it may be the
/// only trace of a removal whose record was lost in an earlier power cut.
///
///     0   magic     4   "MPsy"
///     4   version   4   of the format, ``RecordHead/version``
///     8   segment   4   up to where everything is on the device
///     12  offset    4
///     16  checksum  8   of the bytes above
///
/// All numbers are little-endian.
enum SyncMark {
  static let size = 24
  private static let magic: UInt32 = 0x7973_504D
  private static let version = UInt32(RecordHead.version)

  static func bytes(_ position: LogPosition) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.put(magic, 0)
      bytes.put(version, 4)
      bytes.put(position.segment, 8)
      bytes.put(position.offset, 12)
      bytes.put(sum(UnsafeRawBufferPointer(bytes)), 16)
    }
    return bytes
  }

  /// Parses the position; nil if the bytes are damaged.
  static func position(_ bytes: UnsafeRawBufferPointer) -> LogPosition? {
    guard bytes.count == size, bytes.number(0, UInt32.self) == magic,
      bytes.number(4, UInt32.self) == version, bytes.number(16, UInt64.self) == sum(bytes)
    else { return nil }
    return LogPosition(
      segment: bytes.number(8, UInt32.self), offset: bytes.number(12, UInt32.self))
  }

  private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes[..<16]), seed: 6)
  }
}
