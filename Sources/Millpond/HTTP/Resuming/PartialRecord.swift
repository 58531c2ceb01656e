import Foundation

/// The first bytes of a body, and the version to which the rest has to belong.
struct PartialBody: Sendable, Equatable {
  let bytes: Data
  let version: ResourceVersion

  var resumePoint: ResumePoint { ResumePoint(version: version, byteCount: bytes.count) }
}

extension PartialBody {
  /// Creates the bytes of an interrupted answer; nil if the rest can't be requested.
  init?(_ head: HTTPHead, _ bytes: Data) {
    guard let version = ResourceVersion(head) else { return nil }
    self.init(bytes: bytes, version: version)
  }
}

/// The first bytes of a resource as a file: the bytes, and a ``ResumeFooter``.
struct PartialRecord {
  let identity: String
  let partial: PartialBody

  init(identity: String, _ partial: PartialBody) {
    self.identity = identity
    self.partial = partial
  }

  /// Parses a file; nil if it is damaged.
  init?(_ data: Data) {
    guard let footer = ResumeFooter(of: data) else { return nil }
    let bytes = Data(data.prefix(footer.byteCount))
    guard bytes.withUnsafeBytes({ FileChecksum(of: $0).sum }) == footer.checksum else { return nil }
    self.init(
      identity: footer.head.identity, PartialBody(bytes: bytes, version: footer.head.version))
  }

  var data: Data {
    let footer = ResumeFooter(
      PartialHead(identity: identity, partial.version), byteCount: partial.bytes.count,
      checksum: partial.bytes.withUnsafeBytes { FileChecksum(of: $0).sum })
    return partial.bytes + ((try? footer.data()) ?? Data())
  }
}
