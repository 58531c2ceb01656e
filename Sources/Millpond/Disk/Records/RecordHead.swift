/// The fixed part of a record, which contains the lengths of the other parts.
///
///     0   magic          4   "MPnd"
///     4   version        1   of the format, ``version``
///     5   kind           1   of ``Kind``
///     6   flags          2   1: has an entity tag, 2: has a date of modification,
///                            4: expires by the value's own time to live, not only the cache's,
///                            8: of a group, 16: its first, 32: its last one
///     8   schema         4   version of the value's form, by the store's owner
///     12  key            4   lengths in bytes: of the key in UTF-8,
///     16  payload        4   …
///     20  entity tag     4   …
///     24  last modified  4   …
///     28  stored at      8   microseconds since 1970, signed
///     36  expires at     8   the same; the largest number is never
///     44  front check    4   of the 44 bytes above and the key
///     48  checksum       8   of all that, and of the rest
///     56  key, payload, tag, date
///
/// All numbers are little-endian. The checksums are seeded with the number of the segment, so that
/// a record is valid only where it was written. The front has a check of its own, so that the key
/// of a record with a damaged payload, and the position of the next record, are still known. In
/// every version the front has this check, and the version and the key's length are in these places.
struct RecordHead: Sendable {
  static let size = 56

  /// The version of the format of a folder: of its records, its checkpoint and its mark.
  ///
  /// Whatever changes the form or the meaning of any of them raises it, but for a checkpoint with a
  /// magic number of its own: without a known one the log is read.
  static let version: UInt8 = 5
  private static let magic: UInt32 = 0x646E_504D

  enum Kind: UInt8, Sendable {
    case value = 1

    /// The payload names the file with the value.
    case file = 2

    /// The key has no value.
    case removal = 3

    /// No key written so far has a value, but for the records whose positions the payload lists.
    ///
    /// Those belong to writes that were called after the removal, and were written before it.
    case removalOfAll = 4

    /// The record was torn by a power cut and does not count; the older record of its key does.
    case void = 5
  }

  var kind: Kind
  var flags: UInt16 = 0
  var schema: UInt32 = 0
  var keyLength: UInt32 = 0
  var payloadLength: UInt32 = 0
  var tagLength: UInt32 = 0
  var dateLength: UInt32 = 0
  var storedAt = WallTime(microseconds: 0)
  var expiresAt = WallTime.never

  var hasTag: Bool { flags & 1 != 0 }
  var hasDate: Bool { flags & 2 != 0 }
  var hasOwnExpiry: Bool { flags & 4 != 0 }

  /// Whether the record counts only with all others of its group, from the first to the last one,
  /// between which there is nothing else.
  var isOfGroup: Bool { flags & 8 != 0 }
  var isFirstOfGroup: Bool { flags & 16 != 0 }
  var isLastOfGroup: Bool { flags & 32 != 0 }

  var payloadOffset: Int { Self.size + Int(keyLength) }
  var tagOffset: Int { payloadOffset + Int(payloadLength) }

  /// The size of the whole record; the sum of four lengths of 32 bits can't overflow.
  var recordSize: Int { tagOffset + Int(tagLength) + Int(dateLength) }

  init(_ kind: Kind) {
    self.kind = kind
  }
}

extension RecordHead {
  var times: DiskExpiry {
    get { DiskExpiry(storedAt: storedAt, expiresAt: expiresAt, isOwnExpiry: hasOwnExpiry) }
    set {
      (storedAt, expiresAt) = (newValue.storedAt, newValue.expiresAt)
      flags = newValue.isOwnExpiry ? flags | 4 : flags & ~4
    }
  }

  /// Makes this the record at `place` in a group of `count`; one alone is no group.
  mutating func join(_ place: Int, of count: Int) {
    if count < 2 { return }
    flags |= 8 | (place == 0 ? 16 : 0) | (place == count - 1 ? 32 : 0)
  }

  /// Makes this a record of no group.
  mutating func leaveGroup() { flags &= ~(8 | 16 | 32) }
}

// MARK: - Reading

extension RecordHead {
  /// Parses the fixed part of a record, of which the bytes are there, and checks only its version
  /// and its kind; nil if they are unknown.
  @inline(__always)  // in every get
  init?(parsing bytes: UnsafeRawBufferPointer) {
    guard bytes.number(0, UInt32.self) == Self.magic, bytes[4] == Self.version,
      let kind = Kind(rawValue: bytes[5])
    else { return nil }
    self.init(kind)
    flags = bytes.number(6, UInt16.self)
    schema = bytes.number(8, UInt32.self)
    keyLength = bytes.number(12, UInt32.self)
    payloadLength = bytes.number(16, UInt32.self)
    tagLength = bytes.number(20, UInt32.self)
    dateLength = bytes.number(24, UInt32.self)
    storedAt = WallTime(microseconds: bytes.number(28, Int64.self))
    expiresAt = WallTime(microseconds: bytes.number(36, Int64.self))
  }
}

extension RecordHead {
  /// Returns the size of a front of another version, of which nothing else is known; nil if this is
  /// none.
  static func foreignFrontSize(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.number(0, UInt32.self) == magic, bytes[4] != version else { return nil }
    return size + Int(bytes.number(12, UInt32.self))
  }
}

// MARK: - Writing

extension RecordHead {
  /// Writes this head before the other parts, which are in place, with the checks over all.
  func seal(_ record: UnsafeMutableRawBufferPointer, segment: UInt64) {
    record.put(Self.magic, 0)
    record[4] = Self.version
    record[5] = kind.rawValue
    record.put(flags, 6)
    record.put(schema, 8)
    record.put(keyLength, 12)
    record.put(payloadLength, 16)
    record.put(tagLength, 20)
    record.put(dateLength, 24)
    record.put(storedAt.microseconds, 28)
    record.put(expiresAt.microseconds, 36)
    putChecksums(record, segment)
  }
}

/// The checksums of a record: that of its front, in 32 bits, and that of the whole, which continues
/// it.
extension RecordHead {
  /// The number of bytes before the checksums, and the place of that of the whole.
  private static let frontSize = 44
  private static let checksumOffset = 48

  /// Returns the checksum of a front, which seeds that of the whole; nil if the front is damaged.
  ///
  /// - Parameter end: The end of the key.
  static func intactFrontSum(
    _ bytes: UnsafeRawBufferPointer, to end: Int, _ segment: UInt64
  ) -> UInt64? {
    let sum = frontSum(bytes, to: end, segment)
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
    let frontSum = Self.frontSum(bytes, to: payloadOffset, segment)
    record.put(UInt32(truncatingIfNeeded: frontSum), Self.frontSize)
    record.put(Self.sum(bytes, self, frontSum), Self.checksumOffset)
  }

  private static func frontSum(
    _ bytes: UnsafeRawBufferPointer, to end: Int, _ segment: UInt64
  ) -> UInt64 {
    let fixed = FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes[..<frontSize]), seed: segment)
    return FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes[size..<end]), seed: fixed)
  }

  private static func sum(
    _ bytes: UnsafeRawBufferPointer, _ head: RecordHead, _ frontSum: UInt64
  ) -> UInt64 {
    let rest = UnsafeRawBufferPointer(rebasing: bytes[head.payloadOffset..<head.recordSize])
    return FoldHash.hash(rest, seed: frontSum)
  }
}
