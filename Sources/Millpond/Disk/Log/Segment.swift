import Foundation

/// A part of the log: a file of records, one after the other.
final class Segment: Sendable {
  let number: UInt32
  let file: OpenFile

  init(_ number: UInt32, _ file: OpenFile) {
    self.number = number
    self.file = file
  }
}

/// The segments, the oldest first.
struct SegmentTable: Sendable {
  private(set) var segments: ContiguousArray<Segment> = []

  /// - Complexity: O(log *n*).
  subscript(number: UInt32) -> Segment? {
    var (low, high) = (0, segments.count)
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < segments.count && segments[low].number == number ? segments[low] : nil
  }

  /// Adds one that is newer than all.
  mutating func append(_ segment: Segment) { segments.append(segment) }

  mutating func removeOldest() { segments.removeFirst() }
}

/// What was found in a log, as its store takes it over.
struct LogContents {
  /// A segment, and where its last good record ends.
  struct Part {
    let segment: Segment
    let size: Int

    var end: LogPosition {
      LogPosition(segment: segment.number, offset: UInt32(clamping: size))
    }
  }

  /// The oldest first.
  var parts: [Part] = []

  /// The highest number of a segment that is known of, whether that is still there or not: no later
  /// one may be taken for it.
  var lastSegment: UInt32 = 0

  /// Whether the last one can be written to.
  var canContinue = false

  /// The last segment with a removal of everything, as far as it is known; what is older may go.
  var erasedBefore: UInt32 = 0

  /// The bytes of the log that no checkpoint tells of.
  var uncheckedBytes = 0

  /// The size of the checkpoint, if there is one.
  var indexBytes = 0

  /// The position up to which the log is on the device; nil if no flush to the device was ever made.
  var synced: LogPosition?

  /// The position that the log has certainly reached once: if it ends earlier now, the rest was lost, and
  /// nothing may be written before that position.
  var reached = LogPosition.start

  /// Files of values that no entry has.
  var needlessFiles: [UInt64] = []

  /// Records that were not whole, or not to be made out.
  var damagedRecords = 0
}

/// Where a record is to be read: it can be, even if the segment has been removed meanwhile.
struct RecordPlace: Sendable {
  let segment: Segment
  let spot: Spot

  /// The greatest size of a record that a value is copied out of.
  private static let smallSize = 4_096

  /// The record, if the system has it in memory; nil if it would have to be waited for.
  func readNow(for key: String) -> StoredRecord.Reading? {
    let offset = Int(spot.offset)
    return try? reading(for: key) { bytes in
      if !segment.file.readNow(into: bytes, at: offset) { throw WouldWait() }
      return true
    }
  }

  /// The record.
  ///
  /// - Throws: What says nothing about it, as a locked device.
  func read(for key: String) throws -> StoredRecord.Reading {
    try reading(for: key) { try segment.file.read(into: $0, at: Int(spot.offset)) }
  }

  private func reading(
    for key: String, _ fill: (UnsafeMutableRawBufferPointer) throws -> Bool
  ) throws -> StoredRecord.Reading {
    let size = Int(spot.size)
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
