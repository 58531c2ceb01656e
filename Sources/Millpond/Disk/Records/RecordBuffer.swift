import Foundation
import MillpondCore

/// Records to be written together, one after the other.
struct RecordBuffer {
  private(set) var bytes: [UInt8] = []

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }

  mutating func cut(to count: Int) {
    bytes.removeLast(bytes.count - count)
  }

  /// Adds a record, that is to be in the segment of this number.
  ///
  /// - Returns: Its size.
  mutating func append(
    _ head: RecordHead, key: String, payload: UnsafeRawBufferPointer, _ validator: Validator?,
    segment: UInt32
  ) -> Int {
    let start = bytes.count
    var head = head
    bytes.append(contentsOf: repeatElement(0, count: RecordHead.size))
    bytes.append(contentsOf: key.utf8)
    bytes.append(contentsOf: payload)
    head.keyLength = UInt32(truncatingIfNeeded: key.utf8.count)
    head.payloadLength = UInt32(truncatingIfNeeded: payload.count)
    if let tag = validator?.entityTag {
      head.flags |= 1
      head.tagLength = UInt32(truncatingIfNeeded: tag.utf8.count)
      bytes.append(contentsOf: tag.utf8)
    }
    if let date = validator?.lastModified {
      head.flags |= 2
      head.dateLength = UInt32(truncatingIfNeeded: date.utf8.count)
      bytes.append(contentsOf: date.utf8)
    }
    seal(head, from: start, segment)
    return bytes.count - start
  }

  /// Adds a record as it is in another segment.
  mutating func append(_ record: UnsafeRawBufferPointer, _ head: RecordHead, segment: UInt32) {
    let start = bytes.count
    bytes.append(contentsOf: record)
    seal(head, from: start, segment)
  }

  private mutating func seal(_ head: RecordHead, from start: Int, _ segment: UInt32) {
    bytes.withUnsafeMutableBytes { bytes in
      head.seal(
        UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), segment: UInt64(segment))
    }
  }
}

extension RecordHead {
  /// How large a record may be; one that would be larger is not stored.
  static let greatestSize = 1 << 30

  /// The size of a record with these parts; more than may be for what is too large to be added up.
  static func recordSize(key: String, payload: Int, _ validator: Validator?) -> Int {
    let parts = [
      key.utf8.count, payload, validator?.entityTag?.utf8.count ?? 0,
      validator?.lastModified?.utf8.count ?? 0,
    ]
    return parts.contains { $0 > greatestSize }
      ? greatestSize + 1 : parts.reduce(size, +)
  }
}
