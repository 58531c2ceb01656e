import Foundation
import MillpondCore

/// The bytes of a resource as a file: a mark, a checksum, the length of the head, the head, the rest.
///
/// Whatever a file has become, reading it traps nothing, and damage makes it none of ours.
struct PartialRecord {
  let identity: String
  let partial: PartialBody

  init(identity: String, _ partial: PartialBody) {
    self.identity = identity
    self.partial = partial
  }

  init?(_ data: Data) {
    guard data.count >= Self.fixedByteCount, data.prefix(8) == Self.mark,
      Self.number(data, at: 8) == Self.checksum(data)
    else { return nil }
    let rest = data.dropFirst(Self.fixedByteCount)
    let length = Self.number(data, at: 16)
    guard length <= UInt64(rest.count),
      let head = try? JSONDecoder().decode(PartialHead.self, from: Data(rest.prefix(Int(length))))
    else { return nil }
    identity = head.identity
    partial = PartialBody(bytes: Data(rest.dropFirst(Int(length))), version: head.version)
  }

  /// What a file says of its bytes, and how many there are; whether they are whole is not looked at.
  static func head(of file: OpenFile) throws -> (head: PartialHead, byteCount: Int)? {
    let status = try file.status()
    guard status.isRegular, let fixed = try file.read(fixedByteCount, at: 0),
      fixed.prefix(8) == mark
    else { return nil }
    let length = number(fixed, at: 16)
    guard length <= greatestLength, Int(length) <= status.size - fixedByteCount,
      let encoded = try file.read(Int(length), at: fixedByteCount),
      let head = try? JSONDecoder().decode(PartialHead.self, from: encoded)
    else { return nil }
    return (head, status.size - fixedByteCount - Int(length))
  }

  var data: Data {
    let head = PartialHead(identity: identity, partial.version)
    let encoded = (try? JSONEncoder().encode(head)) ?? Data()
    var data = Self.mark + Self.bytes(0) + Self.bytes(UInt64(encoded.count)) + encoded
    data += partial.bytes
    data.replaceSubrange(8..<16, with: Self.bytes(Self.checksum(data)))
    return data
  }

  private static let mark = Data("MPPART 1".utf8)
  private static let fixedByteCount = 24

  /// More is none of ours: an identity is no longer than what a request can name.
  private static let greatestLength: UInt64 = 1 << 20

  /// Of everything after the checksum.
  private static func checksum(_ data: Data) -> UInt64 {
    data.withUnsafeBytes { bytes in
      FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(16)), seed: 1)
    }
  }

  private static func bytes(_ number: UInt64) -> Data {
    withUnsafeBytes(of: number.littleEndian) { Data($0) }
  }

  private static func number(_ data: Data, at offset: Int) -> UInt64 {
    data.withUnsafeBytes { $0.number(offset, UInt64.self) }
  }
}

/// What is known of the bytes in a file: whose they are, and which version.
struct PartialHead: Codable, Sendable, Equatable {
  let identity: String
  private let condition: String
  private let entityTag: String?
  private let lastModified: String?
  private let total: Int?

  init(identity: String, _ version: ResourceVersion) {
    self.identity = identity
    condition = version.condition
    entityTag = version.validator.entityTag
    lastModified = version.validator.lastModified
    total = version.total
  }

  var version: ResourceVersion {
    ResourceVersion(
      condition: condition,
      validator: Validator(entityTag: entityTag, lastModified: lastModified), total: total)
  }
}

/// The first bytes of a body, and by what the origin can say whether the rest still fits to them.
struct PartialBody: Sendable, Equatable {
  let bytes: Data
  let version: ResourceVersion

  /// How much of the body there is.
  var resumePoint: ResumePoint {
    ResumePoint(version: version, byteCount: bytes.count)
  }
}

extension PartialBody {
  /// The bytes of an answer that broke off; nil if the rest can't be asked for.
  init?(_ head: HTTPHead, _ bytes: Data) {
    guard let version = ResourceVersion(head) else { return nil }
    self.init(bytes: bytes, version: version)
  }

  /// The same body with more bytes.
  func grown(to bytes: Data) -> PartialBody {
    PartialBody(bytes: bytes, version: version)
  }
}
