import Foundation

/// Where a record is to be read: it can be, even if the segment has been removed meanwhile.
struct RecordPlace: Sendable {
  let segment: Segment
  let spot: Spot

  /// Up to which size a value is copied out of its record.
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
