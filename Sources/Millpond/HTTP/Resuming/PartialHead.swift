import Foundation
import MillpondCore

/// The description of the first bytes of a body in a file beside this one: the resource, the
/// version, and how many they are.
///
/// The file is a checksum of the description, and the description as JSON. Reading never traps,
/// whatever the file contains; a damaged one counts as none. The bytes are checked when a transfer
/// resumes with them.
struct PartialHead: Codable, Sendable, Equatable {
  /// A salted hash of the representation, whose URL and fields may be secret.
  private let resource: String
  private let salt: UInt64
  private let condition: String
  private let entityTag: String?
  private let lastModified: String?
  private let total: Int?

  /// The number of bytes, and their ``FileChecksum``; the file may have more.
  let byteCount: Int
  let checksum: UInt64

  init(_ file: UnfinishedFile, _ version: ResourceVersion, at place: PartialPlace) {
    salt = .random(in: 0 ... .max)
    resource = place.representation.hidden(salt, place.hashKey)
    condition = version.condition
    entityTag = version.validator.entityTag
    lastModified = version.validator.lastModified
    total = version.total
    byteCount = file.byteCount
    checksum = file.checksum
  }

  /// Whether the bytes are those of a representation.
  func isOf(_ place: PartialPlace) -> Bool {
    resource == place.representation.hidden(salt, place.hashKey)
  }

  var resumePoint: ResumePoint {
    let validator = Validator(entityTag: entityTag, lastModified: lastModified)
    return ResumePoint(
      version: ResourceVersion(condition: condition, validator: validator, total: total),
      byteCount: byteCount)
  }

  /// Reads a description; nil if it is damaged.
  init?(of file: OpenFile) throws {
    let status = try file.status()
    guard status.isRegular, (Self.sumSize...Self.greatestSize).contains(status.size),
      let bytes = try file.read(status.size, at: 0)
    else { return nil }
    let encoded = bytes.dropFirst(Self.sumSize)
    guard bytes.withUnsafeBytes({ $0.number(0, UInt64.self) }) == Self.checksum(encoded),
      let head = try? JSONDecoder().decode(Self.self, from: encoded), head.byteCount >= 0
    else { return nil }
    self = head
  }

  /// Writes the description in place of what is in a file.
  func write(to file: OpenFile) throws {
    let encoded = try JSONEncoder().encode(self)
    var bytes = Data()
    bytes.append(number: Self.checksum(encoded))
    bytes.append(encoded)
    try file.write(bytes)
    try file.truncate(to: bytes.count)
  }

  private static let sumSize = 8

  /// The greatest size of a file; a larger one is not of this store.
  private static let greatestSize = 1 << 20

  private static func checksum(_ data: Data) -> UInt64 {
    data.withUnsafeBytes { FoldHash.hash($0, seed: 2) }
  }
}

extension Representation {
  fileprivate func hidden(_ salt: UInt64, _ hashKey: [UInt8]) -> String {
    Fingerprint(hiding: Array("\(identity)\n\n\(fields)".utf8), salt, hashKey).text
  }
}
