/// The checksums of a record: that of its front, in 32 bits, and that of the whole, which continues
/// it.
extension RecordHead {
  /// The number of bytes before the checksums, and the place of that of the whole.
  private static let frontSize = 44
  private static let checksumOffset = 48

  /// Returns the checksum of a front, which seeds that of the whole; nil if the front is damaged.
  static func intactFrontSum(
    _ bytes: UnsafeRawBufferPointer, _ head: RecordHead, _ segment: UInt64
  ) -> UInt64? {
    let sum = frontSum(bytes, head, segment)
    let stored = bytes.number(frontSize, UInt32.self)
    return stored == UInt32(truncatingIfNeeded: sum) ? sum : nil
  }

  /// Whether a record with an undamaged front is complete and undamaged.
  static func isWhole(
    _ record: UnsafeRawBufferPointer, _ head: RecordHead, frontSum: UInt64
  ) -> Bool {
    guard record.count >= head.recordSize else { return false }
    return sum(record, head, frontSum) == record.number(checksumOffset, UInt64.self)
  }

  /// Writes both checksums into a record whose other bytes are in place.
  func putChecksums(_ record: UnsafeMutableRawBufferPointer, _ segment: UInt64) {
    let bytes = UnsafeRawBufferPointer(record)
    let frontSum = Self.frontSum(bytes, self, segment)
    record.put(UInt32(truncatingIfNeeded: frontSum), Self.frontSize)
    record.put(Self.sum(bytes, self, frontSum), Self.checksumOffset)
  }

  private static func frontSum(
    _ bytes: UnsafeRawBufferPointer, _ head: RecordHead, _ segment: UInt64
  ) -> UInt64 {
    let fixed = FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes[..<frontSize]), seed: segment)
    return FoldHash.hash(
      UnsafeRawBufferPointer(rebasing: bytes[size..<head.payloadOffset]), seed: fixed)
  }

  private static func sum(
    _ bytes: UnsafeRawBufferPointer, _ head: RecordHead, _ frontSum: UInt64
  ) -> UInt64 {
    let rest = UnsafeRawBufferPointer(rebasing: bytes[head.payloadOffset..<head.recordSize])
    return FoldHash.hash(rest, seed: frontSum)
  }
}
