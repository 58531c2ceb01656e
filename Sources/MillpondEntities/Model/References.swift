/// What can stand for related entities: references, and collections of them.
public protocol References: Sendable {
  /// Adds each reference to `entities`.
  func add(to entities: inout RelatedEntities)
}

extension Relation {
  /// What `references` gives: one reference, an optional one, or an array or a set of them.
  ///
  /// - Parameter references: Must depend on the entity alone. The store calls it once for each value
  ///   that is set, while other writers wait.
  @inlinable
  public init<Related: References>(_ references: @escaping @Sendable (Owner) -> Related) {
    self.init(read: { owner, entities in references(owner).add(to: &entities) })
  }
}

extension Reference: References {
  /// Adds itself.
  @inlinable
  public func add(to entities: inout RelatedEntities) {
    entities.add(self)
  }
}

extension Optional: References where Wrapped: References {
  /// Adds what there is.
  @inlinable
  public func add(to entities: inout RelatedEntities) {
    self?.add(to: &entities)
  }
}

extension Array: References where Element: References {
  /// Adds each.
  @inlinable
  public func add(to entities: inout RelatedEntities) {
    for element in self { element.add(to: &entities) }
  }
}

extension Set: References where Element: References {
  /// Adds each.
  @inlinable
  public func add(to entities: inout RelatedEntities) {
    for element in self { element.add(to: &entities) }
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
