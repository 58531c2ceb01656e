import Foundation
import MillpondCore

/// What was found on disk for a key.
struct StoredRecord: Sendable {
  enum Content: Sendable {
    case value(Data)
    case file(LargeValue)
  }

  let content: Content
  let storedAt: WallTime
  let expiresAt: WallTime
  let validator: Validator?
  let schema: UInt32
}

extension StoredRecord {
  /// What the bytes of a record turn out to be.
  enum Reading {
    case whole(StoredRecord)

    /// A good record for another key.
    case ofOtherKey

    /// Torn, damaged, of another version, or never one of ours.
    case damaged
  }

  /// Reads the record for `key`.
  ///
  /// - Parameter data: Makes a value of the bytes in this range of the record.
  static func read(
    _ record: UnsafeRawBufferPointer, for key: String, segment: UInt32,
    data: (Range<Int>) -> Data
  ) -> Reading {
    guard case .front(let head, let sum) = RecordHead.read(record, segment: UInt64(segment)),
      head.recordSize == record.count, RecordHead.isWhole(record, head, frontSum: sum)
    else { return .damaged }
    let keyBytes = UnsafeRawBufferPointer(rebasing: record[RecordHead.size..<head.payloadOffset])
    guard key.hasBytes(keyBytes) else { return .ofOtherKey }
    let payload = head.payloadOffset..<head.tagOffset
    let content: Content
    switch head.kind {
    case .value: content = .value(data(payload))
    case .file:
      guard let value = LargeValue(UnsafeRawBufferPointer(rebasing: record[payload])) else {
        return .damaged
      }
      content = .file(value)
    case .removal, .removalOfAll, .void: return .damaged
    }
    return .whole(
      StoredRecord(
        content: content, storedAt: head.storedAt, expiresAt: head.expiresAt,
        validator: head.validator(of: record), schema: head.schema))
  }
}

extension RecordHead {
  fileprivate func validator(of record: UnsafeRawBufferPointer) -> Validator? {
    guard hasTag || hasDate else { return nil }
    let dateOffset = tagOffset + Int(tagLength)
    let tag = String(decoding: record[tagOffset..<dateOffset], as: UTF8.self)
    let date = String(decoding: record[dateOffset..<recordSize], as: UTF8.self)
    return Validator(entityTag: hasTag ? tag : nil, lastModified: hasDate ? date : nil)
  }
}
