/// The fixed part of a record, from which the lengths of the others are known.
///
///     0   magic          4   "MPnd"
///     4   version        2   1
///     6   flags          2   1: has an entity tag, 2: has a date of modification
///     8   born at        8   microseconds since 1970, signed
///     16  key            8   lengths in bytes: of the key in UTF-8,
///     24  entity tag     8   …
///     32  last modified  8   …
///     40  value          8   …
///     48  checksum       8   of the 48 bytes above, then of key, tag and date together, then of the value
///     56  the four parts, in that order
///
/// All numbers are little-endian.
struct RecordHead {
  static let size = 56
  static let version: UInt16 = 1
  private static let magic: UInt32 = 0x646E_504D
  private static let checkedSize = 48

  var flags: UInt16 = 0
  var bornAt: Int64
  var keyLength: Int
  var tagLength: Int
  var dateLength: Int
  var valueLength: Int
  var checksum: UInt64 = 0

  var hasTag: Bool { flags & 1 != 0 }
  var hasDate: Bool { flags & 2 != 0 }
  var valueOffset: Int { Self.size + keyLength + tagLength + dateLength }
}

extension RecordHead {
  /// Reads the head of a file of so many bytes; nil if it is not exactly that of such a file.
  init?(_ file: UnsafeRawBufferPointer) {
    guard file.count >= Self.size,
      Self.number(file, 0, UInt32.self) == Self.magic,
      Self.number(file, 4, UInt16.self) == Self.version
    else { return nil }
    flags = Self.number(file, 6, UInt16.self)
    bornAt = Self.number(file, 8, Int64.self)
    checksum = Self.number(file, 48, UInt64.self)
    var rest = file.count - Self.size
    var lengths = [0, 0, 0, 0]
    for index in 0..<4 {
      // Each against what is left of the file, so that no sum can overflow.
      let length = Self.number(file, 16 + 8 * index, UInt64.self)
      guard length <= UInt64(rest) else { return nil }
      lengths[index] = Int(length)
      rest -= Int(length)
    }
    guard rest == 0 else { return nil }
    (keyLength, tagLength, dateLength, valueLength) =
      (lengths[0], lengths[1], lengths[2], lengths[3])
  }

  /// Writes this to the first bytes of `front`, and then the checksum over all.
  func seal(_ front: UnsafeMutableRawBufferPointer, value: UnsafeRawBufferPointer) {
    Self.put(Self.magic, front, 0)
    Self.put(Self.version, front, 4)
    Self.put(flags, front, 6)
    Self.put(bornAt, front, 8)
    for (index, length) in [keyLength, tagLength, dateLength, valueLength].enumerated() {
      Self.put(UInt64(length), front, 16 + 8 * index)
    }
    Self.put(Self.sum(UnsafeRawBufferPointer(front), value), front, Self.checkedSize)
  }

  /// The checksum of a record whose value lies apart from what is in front of it.
  static func sum(_ front: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> UInt64 {
    let head = FoldHash.hash(UnsafeRawBufferPointer(rebasing: front[..<checkedSize]), seed: 3)
    let parts = FoldHash.hash(UnsafeRawBufferPointer(rebasing: front[size...]), seed: head)
    return FoldHash.hash(value, seed: parts)
  }

  private static func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ file: UnsafeRawBufferPointer, _ offset: Int, _ type: Number.Type
  ) -> Number {
    Number(littleEndian: file.loadUnaligned(fromByteOffset: offset, as: type))
  }

  private static func put(
    _ number: some FixedWidthInteger & BitwiseCopyable, _ front: UnsafeMutableRawBufferPointer,
    _ offset: Int
  ) {
    front.storeBytes(of: number.littleEndian, toByteOffset: offset, as: type(of: number))
  }
}
