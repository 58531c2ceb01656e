extension EntityStore {
  /// Returns the entity of a reference to any type; nil if it does not exist.
  public func get(_ reference: AnyReference) -> (any Entity)? {
    get(reference, of: reference.type)
  }

  /// Removes the entity of a reference to any type.
  public func remove(_ reference: AnyReference) {
    remove(reference, of: reference.type)
  }

  private func get<E: Entity>(_ reference: AnyReference, of type: E.Type) -> (any Entity)? {
    reference.reference(to: type).flatMap { get($0) }
  }

  private func remove<E: Entity>(_ reference: AnyReference, of type: E.Type) {
    reference.reference(to: type).map { remove($0) }
  }
}
