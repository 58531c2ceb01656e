/// A reference to an entity of any type.
public struct AnyReference: Sendable {
  /// The type of the entity.
  public let type: any Entity.Type

  /// Its identity.
  public let id: any Hashable & Sendable

  /// Hides to which type it is.
  @inlinable
  public init<Target>(_ reference: Reference<Target>) {
    type = Target.self
    id = reference.id
  }

  /// The reference, if it is to this type.
  public func reference<Target: Entity>(to type: Target.Type) -> Reference<Target>? {
    guard self.type == type, let id = id as? Target.ID else { return nil }
    return Reference(id)
  }
}

extension AnyReference: Hashable {
  /// Whether both stand for the same entity of the same type.
  public static func == (left: AnyReference, right: AnyReference) -> Bool {
    left.type == right.type && AnyHashable(left.id) == AnyHashable(right.id)
  }

  /// Hashes type and identity.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type))
    id.hash(into: &hasher)
  }
}

extension AnyReference: CustomStringConvertible {
  /// The type and the identity, for people.
  public var description: String {
    "\(type) \(id)"
  }
}
