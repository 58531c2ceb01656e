import Foundation
import MillpondCore

/// The content of a record found on disk.
struct StoredRecord: Sendable {
  enum Content: Sendable {
    case value(Data)
    case file(FileValue)
  }

  let content: Content
  let times: DiskExpiry
  let validator: Validator?
  let schema: UInt32
}

extension StoredRecord {
  /// The result of reading a record.
  enum Reading {
    case whole(StoredRecord)

    /// An undamaged record of another key.
    case ofOtherKey

    /// A record that is torn, damaged, or of another version, or other bytes.
    case damaged
  }

  /// Reads the record for `key`.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the record.
  ///   - key: The expected key.
  ///   - segment: The number of the segment that contains the record.
  ///   - data: Makes a value of the bytes in this range of the record.
  static func read(
    _ bytes: UnsafeRawBufferPointer, for key: String, segment: UInt32,
    data: (Range<Int>) -> Data
  ) -> Reading {
    guard let record = Record(whole: bytes, segment: segment) else { return .damaged }
    guard key.hasBytes(record.key) else { return .ofOtherKey }
    let head = record.head
    let content: Content
    if head.kind == .value {
      content = .value(data(head.payloadOffset..<head.tagOffset))
    } else if let value = record.largeValue {
      content = .file(value)
    } else {
      return .damaged
    }
    return .whole(
      StoredRecord(
        content: content, times: head.times,
        validator: record.validator, schema: head.schema))
  }
}
