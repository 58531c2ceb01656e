import MillpondCore

/// A record with an undamaged front; its bytes are valid as long as their owner says.
struct Record {
  let head: RecordHead

  /// The bytes of the record, of which the last ones may be missing; see ``isWhole``.
  let bytes: UnsafeRawBufferPointer

  private let frontSum: UInt64

  /// The result of reading the front of a record.
  enum Reading {
    /// The front is undamaged; the rest is still to be checked.
    case front(Record)

    /// More bytes are needed: this many in all.
    case needsMore(Int)

    /// The front is undamaged, and of another version of the format.
    case ofOtherVersion(UInt8)

    case damaged
  }

  /// Reads the front of a record, and trusts it only if its check matches.
  ///
  /// - Parameters:
  ///   - bytes: The bytes from the beginning of the record on; others may follow it.
  ///   - segment: The number of the segment that contains the record.
  static func read(_ bytes: UnsafeRawBufferPointer, segment: UInt32) -> Reading {
    guard bytes.count >= RecordHead.size else { return .needsMore(RecordHead.size) }
    let head = RecordHead(parsing: bytes)
    guard let front = head?.payloadOffset ?? RecordHead.foreignFrontSize(bytes) else {
      return .damaged
    }
    guard bytes.count >= front else { return .needsMore(front) }
    guard let sum = RecordHead.intactFrontSum(bytes, to: front, UInt64(segment)) else {
      return .damaged
    }
    guard let head else { return .ofOtherVersion(bytes[4]) }
    let own = UnsafeRawBufferPointer(rebasing: bytes[..<min(head.recordSize, bytes.count)])
    return .front(Record(head: head, bytes: own, frontSum: sum))
  }

  private init(head: RecordHead, bytes: UnsafeRawBufferPointer, frontSum: UInt64) {
    (self.head, self.bytes, self.frontSum) = (head, bytes, frontSum)
  }

  /// Parses a record; nil unless the bytes are exactly one undamaged record.
  init?(whole bytes: UnsafeRawBufferPointer, segment: UInt32) {
    guard case .front(let record) = Self.read(bytes, segment: segment),
      record.head.recordSize == bytes.count, record.isWhole
    else { return nil }
    self = record
  }

  /// Whether all bytes are there and undamaged.
  var isWhole: Bool { RecordHead.isWhole(bytes, head, frontSum: frontSum) }

  var key: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[RecordHead.size..<head.payloadOffset])
  }

  /// The validator, if the record is whole.
  var validator: Validator? {
    guard head.hasTag || head.hasDate else { return nil }
    let dateOffset = head.tagOffset + Int(head.tagLength)
    let tag = String(decoding: bytes[head.tagOffset..<dateOffset], as: UTF8.self)
    let date = String(decoding: bytes[dateOffset..<head.recordSize], as: UTF8.self)
    return Validator(entityTag: head.hasTag ? tag : nil, lastModified: head.hasDate ? date : nil)
  }

  /// The large value that the payload names, if any.
  var largeValue: FileValue? {
    guard head.kind == .file, bytes.count >= head.tagOffset else { return nil }
    return FileValue(
      UnsafeRawBufferPointer(rebasing: bytes[head.payloadOffset..<head.tagOffset]))
  }

  /// The number of bytes of the value; nil if there is none.
  var valueSize: Int? {
    switch head.kind {
    case .value: Int(head.payloadLength)
    case .file: largeValue?.count
    case .removal, .removalOfAll, .void: nil
    }
  }

  /// The positions of the records that a removal of everything spares.
  ///
  /// None if the record is damaged, so that everything before it stays removed.
  var survivors: Set<LogPosition> {
    guard head.kind == .removalOfAll, head.payloadLength > 0, isWhole else { return [] }
    let payload = UnsafeRawBufferPointer(rebasing: bytes[head.payloadOffset..<head.tagOffset])
    return Set(
      (0..<payload.count / LogPosition.size).map { number in
        LogPosition(
          segment: payload.number(number * LogPosition.size, UInt32.self),
          offset: payload.number(number * LogPosition.size + 4, UInt32.self))
      })
  }

  func location(segment: UInt32, _ offset: Int) -> RecordLocation {
    RecordLocation(
      segment: segment, offset: UInt32(offset), size: UInt32(head.recordSize),
      expiry: head.expiresAt.expiry)
  }
}
