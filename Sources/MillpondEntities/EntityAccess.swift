import MillpondSignals

/// The reads and writes that a store and its transactions have in common.
///
/// A function of entities is written once, and called with either:
///
///     func publish(_ book: Reference<Book>, in entities: some EntityAccess) {
///       entities.update { entities in
///         guard var found = entities.get(book) else { return }
///         found.isPublished = true
///         entities.set(found)
///       }
///     }
///
///     publish(book, in: store)                    // a transaction of its own
///     store.update { publish(book, in: $0) }      // a part of this one
///
/// The requirements are documented with ``EntityStore`` and ``EntityTransaction``, which are the
/// only conforming types.
public protocol EntityAccess {
  /// Returns the entity; nil if it does not exist.
  ///
  /// - Parameter reference: The reference to the entity.
  func get<E>(_ reference: Reference<E>) -> E?

  /// Returns those of the entities that exist, in the order of the references, as of one commit.
  func get<E>(_ references: some Sequence<Reference<E>>) -> [E]

  /// Stores `entity`, merged with the stored value if it is ``Mergeable``.
  func set<E: Entity>(_ entity: E)

  /// Removes the entity.
  ///
  /// - Parameter reference: The reference to the entity.
  func remove<E>(_ reference: Reference<E>)

  /// Removes all entities of this type.
  func removeAll<E: Entity>(of type: E.Type)

  /// Removes all entities.
  func removeAll()

  /// Runs several reads and writes as one transaction, or as a part of the running one.
  ///
  /// - Parameter changes: Reads and writes through the transaction that it receives.
  func update<Result, Failure>(
    _ changes: (EntityTransaction) throws(Failure) -> Result
  ) throws(Failure) -> Result
}

extension EntityStore: EntityAccess {}

extension EntityTransaction: EntityAccess {}

extension EntityAccess {
  /// Returns the entity of an optional reference, such as a relation that may be absent.
  @inlinable
  public func get<E>(_ reference: Reference<E>?) -> E? {
    reference.flatMap { get($0) }
  }

  /// Stores several entities of a type in one commit, each as ``set(_:)-(E)`` does.
  public func set<E: Entity>(_ entities: some Sequence<E>) {
    update { access in
      for entity in entities { access.set(entity) }
    }
  }

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
