/// Stands for an entity by its identity alone, whether or not there is one in a store.
///
/// References to two types are never mixed up, whatever the types and identities are called.
public struct Reference<Target: Entity>: Hashable, Sendable {
  /// Whom it stands for.
  public let id: Target.ID

  /// The reference to whoever has this identity.
  @inlinable
  public init(_ id: Target.ID) {
    self.id = id
  }
}

extension Reference: CustomStringConvertible {
  /// The type and the identity, for people.
  public var description: String {
    "\(Target.self) \(id)"
  }
}

extension Reference: Encodable where Target.ID: Encodable {
  /// Encodes the identity, and nothing around it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(id)
  }
}

extension Reference: Decodable where Target.ID: Decodable {
  /// Decodes an identity.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Target.ID.self))
  }
}
