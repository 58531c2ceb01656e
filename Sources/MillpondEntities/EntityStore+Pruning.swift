import MillpondCore
public import MillpondSignals

extension EntityStore {
  /// Drops what is not in use.
  ///
  /// In use is what is observed, retained, or of a type that a live query shows; what was set, asked
  /// for, brought by a source, observed or retained within `age`; and all that these refer to, however
  /// indirectly. Nobody is told, since nobody observes what goes. Within a transaction it is done after
  /// the commit; a transaction that throws prunes nothing. Entities go in steps: a reader meanwhile may
  /// find some of what goes and not the rest.
  ///
  /// - Parameter age: How long something must not have been used to go; of zero, it needs not.
  /// - Complexity: O(*n*) in what is stored; other writers wait meanwhile, readers do not, but where
  ///   so much has gone that memory is given back.
  public func prune(unusedFor age: Duration = .zero) {
    core.prune(unusedFor: age)
  }

  /// Keeps an entity, and what it refers to, from being dropped for room, or as unused.
  ///
  /// There need not be such an entity yet. Each call counts.
  ///
  /// - Returns: The handle that gives it up again; dropping it does not.
  public func retain<E>(_ reference: Reference<E>) -> Disposable {
    core.retain(reference)
  }
}

extension EntityCore {
  /// - Returns: The handle that gives it up again, and does not keep what is stored.
  @inlinable
  func retain<E>(_ reference: Reference<E>) -> Disposable {
    let node = tables.withLock { $0.retain(reference.id, in: E.self) }
    return Disposable { [weak self] in self?.release(node) }
  }

  @usableFromInline
  func release(_ node: NodeNumber) {
    let now = time.now()
    let released = tables.withLock { $0.release(node, now) }
    _ = released  // released here, not under the lock
  }
}
