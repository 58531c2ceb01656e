import Foundation

/// A key of the disk and its value; nil for none.
struct ArchiveRecord: Sendable, Equatable {
  let key: String
  let value: Data?

  var byteCount: Int { key.utf8.count + (value?.count ?? 0) }
}

/// The layout of a stored entity: the version of its type's form, and its JSON.
enum ArchiveForm {
  static func wrap(_ json: Data, _ version: UInt32) -> Data {
    var record = Data()
    record.append(number: version)
    record.append(json)
    return record
  }

  static func unwrap(_ record: Data) -> (json: Data, version: UInt32)? {
    var rest = record[...]
    return rest.takeNumber().map { (Data(rest), $0) }
  }
}

/// The form in which a part of a transaction is written before any of it is carried out.
enum ArchiveBatch {
  static func encode(_ records: some Sequence<ArchiveRecord>) -> Data {
    var bytes = Data()
    for record in records {
      bytes.append(number: UInt32(record.key.utf8.count))
      bytes.append(contentsOf: record.key.utf8)
      // The length plus one, so that zero means none.
      bytes.append(number: UInt32(record.value.map { $0.count + 1 } ?? 0))
      bytes.append(record.value ?? Data())
    }
    return bytes
  }

  /// Returns the records; nil if they are damaged.
  static func decode(_ bytes: Data) -> [ArchiveRecord]? {
    var rest = bytes[...]
    var records: [ArchiveRecord] = []
    while !rest.isEmpty {
      guard let keyLength = rest.takeNumber(), let key = rest.take(Int(keyLength)),
        let mark = rest.takeNumber(), let value = rest.take(max(0, Int(mark) - 1))
      else { return nil }
      records.append(
        ArchiveRecord(key: String(decoding: key, as: UTF8.self), value: mark > 0 ? value : nil))
    }
    return records
  }
}

extension Data {
  @inline(never)
  fileprivate mutating func takeNumber() -> UInt32? {
    take(4).map { $0.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
  }

  @inline(never)
  fileprivate mutating func append(number: UInt32) {
    append(contentsOf: [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) })
  }

  @inline(never)
  fileprivate mutating func take(_ length: Int) -> Data? {
    guard count >= length else { return nil }
    defer { self = dropFirst(length) }
    return Data(prefix(length))
  }
}
