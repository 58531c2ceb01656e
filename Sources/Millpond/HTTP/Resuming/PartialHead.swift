import Foundation
import MillpondCore

/// What is known of the bytes in a file: whose they are, and which edition.
struct PartialHead: Codable, Sendable, Equatable {
  let identity: String
  private let condition: String
  private let entityTag: String?
  private let lastModified: String?
  private let total: Int?

  init(identity: String, _ edition: Edition) {
    self.identity = identity
    condition = edition.condition
    entityTag = edition.validator.entityTag
    lastModified = edition.validator.lastModified
    total = edition.total
  }

  var edition: Edition {
    Edition(
      condition: condition,
      validator: Validator(entityTag: entityTag, lastModified: lastModified), total: total)
  }
}
