public import Foundation
public import MillpondCore

/// A part of what an ``HTTPCache`` stores: the heads of the responses of a URL, or a body.
///
/// Any cache of records by string can be its store:
///
///     MemoryCache<String, HTTPCacheRecord>(
///       byteLimit: .mebibytes(32), weight: { $0.byteCount })
public struct HTTPCacheRecord: Sendable {
  enum Content: Sendable {
    case heads([StoredResponse])
    case body(Data)
  }

  let content: Content

  init(_ content: Content) { self.content = content }

  /// The size in bytes, approximately, as the weight in a memory cache.
  public var byteCount: Int {
    switch content {
    case .heads(let heads): heads.reduce(64) { $0 + $1.headers.byteCount + 256 }
    case .body(let bytes): bytes.count + 64
    }
  }

  var heads: [StoredResponse]? { if case .heads(let heads) = content { heads } else { nil } }
  var body: Data? { if case .body(let bytes) = content { bytes } else { nil } }
}

extension Codec where Encoded == Data, Decoded == HTTPCacheRecord {
  /// A codec that stores the records of an ``HTTPCache`` as bytes.
  ///
  /// Bytes that are no record are a failure, never a trap. Credentials, and the request fields that
  /// a `Vary` names, are stored as hashes.
  public static var httpRecords: Codec {
    Codec(encode: { RecordWriter.bytes(of: $0) }, decode: { try RecordReader.record(in: $0) })
  }
}

/// The last byte of a record, which says what it is; bodies then begin where the bytes do.
private enum RecordKind: UInt8 {
  case body = 1
  case heads = 3
}

private struct RecordWriter {
  private var bytes = Data()

  static func bytes(of record: HTTPCacheRecord) -> Data {
    switch record.content {
    case .body(let body):
      var bytes = Data(capacity: body.count + 1)
      bytes.append(body)
      bytes.append(RecordKind.body.rawValue)
      return bytes
    case .heads(let heads):
      var writer = RecordWriter()
      writer.add(heads.count)
      for head in heads { writer.add(head) }
      writer.bytes.append(RecordKind.heads.rawValue)
      return writer.bytes
    }
  }

  private mutating func add(_ head: StoredResponse) {
    for number in [
      head.status, Int(head.requestTime.microseconds), Int(head.responseTime.microseconds),
      head.body.byteCount, head.body.isWhole ? 1 : 0,
    ] { add(number) }
    for fingerprint in [head.body.number, head.variant.selecting, head.variant.credentials] {
      add(Int(bitPattern: UInt(fingerprint.first)))
      add(Int(bitPattern: UInt(fingerprint.second)))
    }
    add(Int(bitPattern: UInt(head.variant.salt)))
    add(head.variant.names.count)
    for name in head.variant.names { add(name) }
    add(head.headers.fields.count)
    for field in head.headers.fields {
      add(field.name)
      add(field.value)
    }
  }

  private mutating func add(_ number: Int) { bytes.append(number: Int64(number)) }

  private mutating func add(_ text: String) {
    add(text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }
}

private struct RecordReader {
  private let bytes: Data
  private var position: Data.Index

  private init(_ bytes: Data) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  static func record(in bytes: Data) throws(DecodingError) -> HTTPCacheRecord {
    switch bytes.last.flatMap({ RecordKind(rawValue: $0) }) {
    case .body: return HTTPCacheRecord(.body(bytes.dropLast()))
    case .heads:
      var reader = RecordReader(bytes.dropLast())
      let heads = try reader.list { reader throws(DecodingError) in try reader.head() }
      guard reader.position == reader.bytes.endIndex else { throw Self.damage }
      return HTTPCacheRecord(.heads(heads))
    case nil: throw Self.damage
    }
  }

  private mutating func head() throws(DecodingError) -> StoredResponse {
    let (status, sent, arrived, count, isWhole) = (
      try number(), try number(), try number(), try number(), try number()
    )
    guard count >= 0, (0...1).contains(isWhole) else { throw Self.damage }
    let (body, selecting, credentials) = (try fingerprint(), try fingerprint(), try fingerprint())
    let salt = UInt64(bitPattern: Int64(try number()))
    let names = try list { reader throws(DecodingError) in try reader.text() }
    let fields = try list { reader throws(DecodingError) in
      (name: try reader.text(), value: try reader.text())
    }
    return StoredResponse(
      status: status, headers: HeaderFields(fields),
      requestTime: WallTime(microseconds: Int64(sent)),
      responseTime: WallTime(microseconds: Int64(arrived)),
      variant: VariantKey(
        names: names, salt: salt, selecting: selecting, credentials: credentials),
      body: StoredBody(number: body, byteCount: count, isWhole: isWhole == 1))
  }

  private mutating func fingerprint() throws(DecodingError) -> Fingerprint {
    Fingerprint(
      first: UInt64(bitPattern: Int64(try number())),
      second: UInt64(bitPattern: Int64(try number())))
  }

  /// Reads a count and so many elements; a count is only a claim, so nothing is reserved for it.
  private mutating func list<Element>(
    _ element: (inout RecordReader) throws(DecodingError) -> Element
  ) throws(DecodingError) -> [Element] {
    let count = try number()
    guard count >= 0 else { throw Self.damage }
    var elements: [Element] = []
    while elements.count < count { elements.append(try element(&self)) }
    return elements
  }

  private mutating func number() throws(DecodingError) -> Int {
    let part = try take(8)
    return Int(truncatingIfNeeded: part.withUnsafeBytes { $0.number(0, Int64.self) })
  }

  private mutating func text() throws(DecodingError) -> String {
    guard let text = String(validating: try take(try number()), as: UTF8.self) else {
      throw Self.damage
    }
    return text
  }

  private mutating func take(_ count: Int) throws(DecodingError) -> Data {
    guard count >= 0, count <= bytes.endIndex - position else { throw Self.damage }
    defer { position += count }
    return bytes[position..<position + count]
  }

  private static var damage: DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "no record of an HTTP cache"))
  }
}
