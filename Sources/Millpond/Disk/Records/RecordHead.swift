/// The fixed part of a record, from which the lengths of the others are known.
///
///     0   magic          4   "MPnd"
///     4   version        1   2
///     5   kind           1   of ``Kind``
///     6   flags          2   1: has an entity tag, 2: has a date of modification
///     8   schema         4   what the store's owner calls the form of the value
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
/// All numbers are little-endian. The sums begin with the number of the segment, so that a record is
/// good only where it was written. The front has one of its own so that of a record whose payload is
/// damaged it is still known whose it was, and where the next one begins.
struct RecordHead: Sendable {
  static let size = 56
  static let version: UInt8 = 2
  private static let magic: UInt32 = 0x646E_504D
  private static let frontSize = 44

  enum Kind: UInt8, Sendable {
    /// The payload is the value.
    case value = 1

    /// The payload says in which file the value is.
    case file = 2

    /// There is nothing for the key.
    case removal = 3

    /// There is nothing for any key so far.
    case removalOfAll = 4
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

  var payloadOffset: Int { Self.size + Int(keyLength) }
  var tagOffset: Int { payloadOffset + Int(payloadLength) }

  /// Of the whole record; four lengths of 32 bits can't overflow.
  var recordSize: Int { tagOffset + Int(tagLength) + Int(dateLength) }

  init(_ kind: Kind) {
    self.kind = kind
  }
}

// MARK: - Reading

extension RecordHead {
  /// What the bytes at the start of `bytes` turn out to be.
  enum Reading {
    /// A front that is as it was written; the rest is still to be looked at.
    case front(RecordHead, sum: UInt64)

    /// It may become one with more bytes: so many are needed.
    case needsMore(Int)

    case damaged
  }

  /// Reads the front of a record; nothing is believed of it that its check does not confirm.
  static func read(_ bytes: UnsafeRawBufferPointer, segment: UInt64) -> Reading {
    guard bytes.count >= size else { return .needsMore(size) }
    guard number(bytes, 0, UInt32.self) == magic, bytes[4] == version,
      let kind = Kind(rawValue: bytes[5])
    else { return .damaged }
    var head = RecordHead(kind)
    head.flags = number(bytes, 6, UInt16.self)
    head.schema = number(bytes, 8, UInt32.self)
    head.keyLength = number(bytes, 12, UInt32.self)
    head.payloadLength = number(bytes, 16, UInt32.self)
    head.tagLength = number(bytes, 20, UInt32.self)
    head.dateLength = number(bytes, 24, UInt32.self)
    head.storedAt = WallTime(microseconds: number(bytes, 28, Int64.self))
    head.expiresAt = WallTime(microseconds: number(bytes, 36, Int64.self))
    guard bytes.count >= head.payloadOffset else { return .needsMore(head.payloadOffset) }
    let sum = frontSum(bytes, head, segment)
    guard number(bytes, frontSize, UInt32.self) == UInt32(truncatingIfNeeded: sum) else {
      return .damaged
    }
    return .front(head, sum: sum)
  }

  /// Whether a record with a good front is whole.
  static func isWhole(
    _ record: UnsafeRawBufferPointer, _ head: RecordHead, frontSum: UInt64
  ) -> Bool {
    guard record.count >= head.recordSize else { return false }
    let rest = UnsafeRawBufferPointer(rebasing: record[head.payloadOffset..<head.recordSize])
    return FoldHash.hash(rest, seed: frontSum) == number(record, 48, UInt64.self)
  }

  private static func frontSum(
    _ bytes: UnsafeRawBufferPointer, _ head: RecordHead, _ segment: UInt64
  ) -> UInt64 {
    let fixed = FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes[..<frontSize]), seed: segment)
    return FoldHash.hash(
      UnsafeRawBufferPointer(rebasing: bytes[size..<head.payloadOffset]), seed: fixed)
  }

  private static func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: UnsafeRawBufferPointer, _ offset: Int, _ type: Number.Type
  ) -> Number {
    Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
  }
}

// MARK: - Writing

extension RecordHead {
  /// Writes this in front of the other parts, which are there, with the checks over all.
  func seal(_ record: UnsafeMutableRawBufferPointer, segment: UInt64) {
    Self.put(Self.magic, record, 0)
    record[4] = Self.version
    record[5] = kind.rawValue
    Self.put(flags, record, 6)
    Self.put(schema, record, 8)
    Self.put(keyLength, record, 12)
    Self.put(payloadLength, record, 16)
    Self.put(tagLength, record, 20)
    Self.put(dateLength, record, 24)
    Self.put(storedAt.microseconds, record, 28)
    Self.put(expiresAt.microseconds, record, 36)
    let bytes = UnsafeRawBufferPointer(record)
    let sum = Self.frontSum(bytes, self, segment)
    Self.put(UInt32(truncatingIfNeeded: sum), record, Self.frontSize)
    let rest = UnsafeRawBufferPointer(rebasing: bytes[payloadOffset..<recordSize])
    Self.put(FoldHash.hash(rest, seed: sum), record, 48)
  }

  private static func put(
    _ number: some FixedWidthInteger & BitwiseCopyable, _ record: UnsafeMutableRawBufferPointer,
    _ offset: Int
  ) {
    record.storeBytes(of: number.littleEndian, toByteOffset: offset, as: type(of: number))
  }
}
