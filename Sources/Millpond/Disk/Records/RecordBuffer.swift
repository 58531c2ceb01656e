import Foundation
import MillpondCore

/// A buffer of records that are written together.
struct RecordBuffer {
  private(set) var bytes: [UInt8] = []

  var count: Int { bytes.count }

  /// Removes all records, and frees the memory that a large record needed.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: bytes.capacity <= Self.usualSize) }

  /// Adds a record for the segment with the given number.
  ///
  /// - Returns: The size of the record.
  mutating func append(
    _ head: RecordHead, key: String, payload: UnsafeRawBufferPointer, _ validator: Validator?,
    segment: UInt32
  ) -> Int {
    let start = count
    var (head, key) = (head, key)
    bytes.append(contentsOf: repeatElement(0, count: RecordHead.size))
    key.withUTF8 { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: payload)
    head.keyLength = UInt32(truncatingIfNeeded: count - start - RecordHead.size - payload.count)
    head.payloadLength = UInt32(truncatingIfNeeded: payload.count)
    if var tag = validator?.entityTag {
      head.flags |= 1
      head.tagLength = UInt32(truncatingIfNeeded: tag.utf8.count)
      tag.withUTF8 { bytes.append(contentsOf: $0) }
    }
    if var date = validator?.lastModified {
      head.flags |= 2
      head.dateLength = UInt32(truncatingIfNeeded: date.utf8.count)
      date.withUTF8 { bytes.append(contentsOf: $0) }
    }
    seal(head, from: start, segment)
    return count - start
  }

  /// Adds a record copied from another segment, without the others of its group.
  mutating func append(_ record: UnsafeRawBufferPointer, _ head: RecordHead, segment: UInt32) {
    let start = count
    var head = head
    head.leaveGroup()
    bytes.append(contentsOf: record)
    seal(head, from: start, segment)
  }

  private static let usualSize = 2 << 20

  private mutating func seal(_ head: RecordHead, from start: Int, _ segment: UInt32) {
    bytes.withUnsafeMutableBytes {
      head.seal(UnsafeMutableRawBufferPointer(rebasing: $0[start...]), segment: UInt64(segment))
    }
  }
}

extension RecordHead {
  /// The greatest size of a record; a larger one is not stored.
  static let greatestSize = 1 << 30

  /// Returns the size of a record with these parts; more than the greatest size if a part is too
  /// large.
  static func recordSize(key: String, payload: Int, _ validator: Validator?) -> Int {
    let (keySize, tagSize, dateSize) = (
      key.utf8.count, validator?.entityTag?.utf8.count ?? 0,
      validator?.lastModified?.utf8.count ?? 0
    )
    let most = greatestSize
    if keySize > most || payload > most || tagSize > most || dateSize > most { return most + 1 }
    return size + keySize + payload + tagSize + dateSize
  }
}
