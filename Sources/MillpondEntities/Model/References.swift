/// A value that refers to related entities: a reference, or a collection of references.
public protocol References: Sendable {
  /// Adds each reference to `entities`.
  func add(to entities: inout RelatedEntities)
}

extension Reference: References {
  /// Adds this reference.
  ///
  /// - Parameter entities: The references found so far.
  @inlinable
  public func add(to entities: inout RelatedEntities) {
    entities.add(self)
  }
}

extension Optional: References where Wrapped: References {
  /// Adds the wrapped references, if any.
  ///
  /// - Parameter entities: The references found so far.
  @inlinable
  public func add(to entities: inout RelatedEntities) {
    self?.add(to: &entities)
  }
}

extension Array: References where Element: References {
  /// Adds the references of each element.
  ///
  /// - Parameter entities: The references found so far.
  @inlinable
  public func add(to entities: inout RelatedEntities) {
    for element in self { element.add(to: &entities) }
  }
}

extension Set: References where Element: References {
  /// Adds the references of each element.
  ///
  /// - Parameter entities: The references found so far.
  @inlinable
  public func add(to entities: inout RelatedEntities) {
    for element in self { element.add(to: &entities) }
  }
}

extension Reference: CustomStringConvertible {
  /// The type and the identity, for people to read.
  public var description: String {
    "\(Target.self) \(id)"
  }
}

extension Reference: Encodable where Target.ID: Encodable {
  /// Encodes the identity as a single value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(id)
  }
}

extension Reference: Decodable where Target.ID: Decodable {
  /// Decodes an identity from a single value.
  ///
  /// - Parameter decoder: The decoder to read the identity from.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Target.ID.self))
  }
}

/// A reference to an entity of any type, for collections of entities of several types.
///
///     let favourites = [AnyReference(book.reference), AnyReference(film.reference)]
///     for favourite in favourites {
///       switch store.get(favourite) {
///       case let book as Book: show(book)
///       case let film as Film: show(film)
///       default: break
///       }
///     }
///
/// Such references can be relations of an entity too.
@frozen
public struct AnyReference: Sendable {
  /// The type of the entity.
  public let type: any Entity.Type

  /// The identity of the entity.
  public let id: any Hashable & Sendable

  /// Creates a reference without a static type.
  @inlinable
  public init<Target>(_ reference: Reference<Target>) {
    type = Target.self
    id = reference.id
  }

  /// Returns the reference if it is to this type; otherwise nil.
  public func reference<Target: Entity>(to type: Target.Type) -> Reference<Target>? {
    guard self.type == type, let id = id as? Target.ID else { return nil }
    return Reference(id)
  }
}

extension AnyReference: References {
  /// Adds the reference.
  ///
  /// - Parameter entities: The references found so far.
  public func add(to entities: inout RelatedEntities) {
    add(to: &entities, of: self.type)
  }

  private func add<Target: Entity>(to entities: inout RelatedEntities, of type: Target.Type) {
    if let reference = reference(to: type) { entities.add(reference) }
  }
}

extension AnyReference: Hashable {
  /// Returns whether both refer to the same entity of the same type.
  ///
  /// - Parameters:
  ///   - left: A reference.
  ///   - right: Another reference.
  public static func == (left: AnyReference, right: AnyReference) -> Bool {
    left.type == right.type && AnyHashable(left.id) == AnyHashable(right.id)
  }

  /// Hashes the type and the identity.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type))
    id.hash(into: &hasher)
  }
}

extension AnyReference: CustomStringConvertible {
  /// The type and the identity, for people to read.
  public var description: String {
    "\(type) \(id)"
  }
}
