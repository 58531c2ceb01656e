import Foundation
import MillpondCore

/// A buffer of records that are written together.
///
/// Not thread-safe.
final class RecordBuffer {
  private var room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
  private(set) var count = 0

  deinit { room.deallocate() }

  /// The records; valid until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<count]) }

  /// Removes all records, and frees the memory that a large record needed.
  func removeAll() {
    count = 0
    guard room.count > Self.usualSize else { return }
    room.deallocate()
    room = .allocate(byteCount: Self.usualSize, alignment: 16)
  }

  /// Adds a record for the segment with the given number.
  ///
  /// - Returns: The size of the record.
  func append(
    _ head: RecordHead, key: String, payload: UnsafeRawBufferPointer, _ validator: Validator?,
    segment: UInt32
  ) -> Int {
    let start = count
    var (head, key) = (head, key)
    reserve(count + RecordHead.size)
    count += RecordHead.size
    key.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    add(payload)
    head.keyLength = UInt32(truncatingIfNeeded: count - start - RecordHead.size - payload.count)
    head.payloadLength = UInt32(truncatingIfNeeded: payload.count)
    if var tag = validator?.entityTag {
      head.flags |= 1
      head.tagLength = UInt32(truncatingIfNeeded: tag.utf8.count)
      tag.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }
    if var date = validator?.lastModified {
      head.flags |= 2
      head.dateLength = UInt32(truncatingIfNeeded: date.utf8.count)
      date.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }
    seal(head, from: start, segment)
    return count - start
  }

  /// Adds a record copied from another segment.
  func append(_ record: UnsafeRawBufferPointer, _ head: RecordHead, segment: UInt32) {
    let start = count
    add(record)
    seal(head, from: start, segment)
  }

  private static let usualSize = 2 << 20

  private func add(_ bytes: UnsafeRawBufferPointer) {
    reserve(count + bytes.count)
    UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  private func reserve(_ size: Int) {
    guard size > room.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(size, room.count * 2), alignment: 16)
    larger.copyMemory(from: bytes)
    room.deallocate()
    room = larger
  }

  private func seal(_ head: RecordHead, from start: Int, _ segment: UInt32) {
    head.seal(
      UnsafeMutableRawBufferPointer(rebasing: room[start..<count]), segment: UInt64(segment))
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
