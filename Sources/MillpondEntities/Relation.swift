/// How entities of one type refer to others: it is declared once, in ``Entity/relations``.
///
///     static let relations: [Relation<Author>] = [Relation(\.books), Relation(\.agent)]
///
/// A key path becomes a closure here; nothing is found out by reflection.
public struct Relation<Owner: Entity>: Sendable {
  @usableFromInline let read: @Sendable (Owner, inout RelatedEntities) -> Void

  /// What `references` gives: one reference, an optional one, or an array or a set of them.
  ///
  /// - Parameter references: Must depend on the entity alone. The store calls it once for each value
  ///   that is set, while other writers wait.
  @inlinable
  public init<Related: References>(_ references: @escaping @Sendable (Owner) -> Related) {
    read = { owner, entities in references(owner).add(to: &entities) }
  }
}

/// What can stand for related entities: references, and collections of them.
public protocol References: Sendable {
  /// Adds each reference to `entities`.
  func add(to entities: inout RelatedEntities)
}

/// The references that were found in an entity.
public struct RelatedEntities {
  /// Their nodes, which the store keeps until the transaction is committed.
  @usableFromInline var targets: [NodeNumber]
  @usableFromInline let core: EntityCore

  @inlinable
  init(_ core: EntityCore, _ targets: [NodeNumber] = []) {
    self.core = core
    self.targets = targets
  }

  /// Adds one.
  @inlinable
  public mutating func add<Target>(_ reference: Reference<Target>) {
    targets.append(core.node(of: reference))
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
