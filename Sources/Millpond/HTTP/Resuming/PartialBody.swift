import Foundation

/// The first bytes of a body, and by what the origin can say whether the rest still fits to them.
struct PartialBody: Sendable, Equatable {
  let bytes: Data
  let edition: Edition

  /// How much of the body there is.
  var beginning: Beginning {
    Beginning(edition: edition, byteCount: bytes.count)
  }
}

extension PartialBody {
  /// The bytes of an answer that broke off; nil if the rest can't be asked for.
  init?(_ head: HTTPHead, _ bytes: Data) {
    guard let edition = Edition(head) else { return nil }
    self.init(bytes: bytes, edition: edition)
  }

  /// The same body with more bytes.
  func grown(to bytes: Data) -> PartialBody {
    PartialBody(bytes: bytes, edition: edition)
  }
}
