import Foundation

/// The first bytes of a body, and the version to which the rest has to belong.
struct PartialBody: Sendable, Equatable {
  let bytes: Data
  let version: ResourceVersion

  var resumePoint: ResumePoint { ResumePoint(version: version, byteCount: bytes.count) }
}
