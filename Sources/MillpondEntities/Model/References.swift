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
