import Foundation
import MillpondSignals

/// A segment of the log: a file of records.
final class Segment: Sendable {
  let number: UInt32
  let file: OpenFile

  init(_ number: UInt32, _ file: OpenFile) {
    self.number = number
    self.file = file
  }
}

/// The segments, oldest first.
struct SegmentTable: Sendable {
  private(set) var segments: ContiguousArray<Segment> = []

  /// The segment of this number, if there is one.
  ///
  /// - Complexity: O(log *n*).
  subscript(number: UInt32) -> Segment? {
    let place = partitionPoint(segments.count) { segments[$0].number < number }
    return place < segments.count && segments[place].number == number ? segments[place] : nil
  }

  /// Adds a segment that is newer than all others.
  mutating func append(_ segment: Segment) { segments.append(segment) }

  mutating func removeOldest() { segments.removeFirst() }
}

/// The contents of an opened log, for its store.
struct LogContents {
  /// A segment, and the end of its last valid record.
  struct Part {
    let segment: Segment
    let size: Int

    var end: LogPosition {
      LogPosition(segment: segment.number, offset: UInt32(clamping: size))
    }
  }

  /// The segments, oldest first.
  var parts: [Part] = []

  /// The highest known segment number, whether or not that segment still exists; no later segment
  /// may have it.
  var lastSegment: UInt32 = 0

  /// Whether the last segment is writable.
  var canContinue = false

  /// The last known segment with a removal of everything; older segments may be removed.
  var erasedBefore: UInt32 = 0

  /// The bytes of the log after the checkpoint.
  var uncheckedBytes = 0

  /// The size of the checkpoint, if there is one.
  var indexBytes = 0

  /// The position up to which the log is on the device; nil if no flush to the device was ever
  /// made.
  var synced: LogPosition?

  /// The position that the log certainly reached once: if it ends earlier now, the rest was lost,
  /// and nothing may be written before that position.
  var reached = LogPosition.start

  /// The files of values that no entry has.
  var needlessFiles: [UInt64] = []

  /// The number of segments of an older version of the format, which have been removed.
  var outdatedFiles = 0

  /// The number of damaged records and of ranges without a readable record.
  var damagedRecords = 0
}

/// The place of a record, which can be read even after its segment was removed.
struct RecordPlace: Sendable {
  let segment: Segment
  let location: RecordLocation

  /// The greatest size of a record from which the value is copied.
  private static let smallSize = 4_096

  /// Returns the record if the system has it in memory; nil if reading it would wait.
  func readNow(for key: String) -> StoredRecord.Reading? {
    let offset = Int(location.offset)
    return try? reading(for: key) { bytes in
      if !segment.file.readNow(into: bytes, at: offset) { throw WouldWait() }
      return true
    }
  }

  /// Reads the record.
  ///
  /// - Throws: Errors that say nothing about the record, such as a locked device.
  func read(for key: String) throws -> StoredRecord.Reading {
    try reading(for: key) { try segment.file.read(into: $0, at: Int(location.offset)) }
  }

  private func reading(
    for key: String, _ fill: (UnsafeMutableRawBufferPointer) throws -> Bool
  ) throws -> StoredRecord.Reading {
    let size = Int(location.size)
    guard size <= Self.smallSize else {
      var isWhole = false
      let bytes = try FileBytes(count: size) { isWhole = try fill($0) }
      if !isWhole { return .damaged }
      return StoredRecord.read(bytes.bytes, for: key, segment: segment.number) {
        bytes.data(from: $0)
      }
    }
    return try withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { room in
      if !(try fill(room)) { return .damaged }
      let bytes = UnsafeRawBufferPointer(room)
      return StoredRecord.read(bytes, for: key, segment: segment.number) {
        Data(UnsafeRawBufferPointer(rebasing: bytes[$0]))
      }
    }
  }
}

private struct WouldWait: Error {}
