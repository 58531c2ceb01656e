import Foundation
import MillpondCore

/// The description of the bytes in a file: the resource, and its version.
struct PartialHead: Codable, Sendable, Equatable {
  /// A salted hash of the representation, whose URL and fields may be secret.
  private let resource: String
  private let salt: UInt64
  private let condition: String
  private let entityTag: String?
  private let lastModified: String?
  private let total: Int?

  init(_ place: PartialPlace, _ version: ResourceVersion) {
    salt = .random(in: 0 ... .max)
    resource = place.representation.hidden(salt, place.hashKey)
    condition = version.condition
    entityTag = version.validator.entityTag
    lastModified = version.validator.lastModified
    total = version.total
  }

  /// Whether the bytes are those of a representation.
  func isOf(_ place: PartialPlace) -> Bool {
    resource == place.representation.hidden(salt, place.hashKey)
  }

  var version: ResourceVersion {
    ResourceVersion(
      condition: condition,
      validator: Validator(entityTag: entityTag, lastModified: lastModified), total: total)
  }
}

extension Representation {
  fileprivate func hidden(_ salt: UInt64, _ hashKey: [UInt8]) -> String {
    Fingerprint(hiding: Array("\(identity)\n\n\(fields)".utf8), salt, hashKey).text
  }
}

/// The footer of a file with the first bytes of a body: a description as JSON, its length and
/// checksum, and a mark.
///
/// Reading never traps, whatever the file contains; a damaged footer counts as none. The bytes
/// before it are checked when a transfer resumes with them.
struct ResumeFooter: Codable, Sendable, Equatable {
  let head: PartialHead

  /// The number of bytes, and their ``FileChecksum``.
  let byteCount: Int
  let checksum: UInt64

  /// Creates the footer of a file with the first bytes of a resource's body.
  init(_ file: UnfinishedFile, _ head: PartialHead) {
    self.head = head
    byteCount = file.byteCount
    checksum = file.checksum
  }

  var resumePoint: ResumePoint { ResumePoint(version: head.version, byteCount: byteCount) }

  init?(of file: OpenFile) throws {
    guard let (footer, place) = try Self.read(file), footer.byteCount == place else { return nil }
    self = footer
  }

  /// Reads the footer from a journal; nil if there is none.
  init?(journal: OpenFile) throws {
    guard let (footer, place) = try Self.read(journal), place == 0 else { return nil }
    self = footer
  }

  /// Writes the footer after the bytes of a file.
  func write(to file: OpenFile) throws { try file.write(try data(), at: byteCount) }

  /// Replaces the footer in a journal.
  func overwrite(_ journal: OpenFile) throws {
    let data = try data()
    try journal.write(data)
    try journal.truncate(to: data.count)
  }

  private func data() throws -> Data {
    let encoded = try JSONEncoder().encode(self)
    var data = encoded
    data.append(number: UInt64(encoded.count))
    data.append(number: Self.checksum(encoded))
    return data + Self.mark
  }

  private static func read(_ file: OpenFile) throws -> (ResumeFooter, place: Int)? {
    let status = try file.status()
    let end = status.size - fixedByteCount
    guard status.isRegular, end >= 0, let fixed = try file.read(fixedByteCount, at: end),
      fixed.suffix(8) == mark
    else { return nil }
    let (length, checksum) = fixed.withUnsafeBytes {
      ($0.number(0, UInt64.self), $0.number(8, UInt64.self))
    }
    guard length <= greatestLength, Int(length) <= end,
      let encoded = try file.read(Int(length), at: end - Int(length)),
      Self.checksum(encoded) == checksum,
      let footer = try? JSONDecoder().decode(Self.self, from: encoded), footer.byteCount >= 0
    else { return nil }
    return (footer, end - Int(length))
  }

  private static let mark = Data("MPPART 3".utf8)
  private static let fixedByteCount = 24

  /// The greatest length of a description; a longer one is not of this store.
  private static let greatestLength: UInt64 = 1 << 20

  private static func checksum(_ data: Data) -> UInt64 {
    data.withUnsafeBytes { FoldHash.hash($0, seed: 2) }
  }
}
