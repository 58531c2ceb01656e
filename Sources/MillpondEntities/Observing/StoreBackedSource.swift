public import MillpondCore
public import MillpondSignals

extension Source where Value: Entity {
  /// Returns a source that writes its answers into `store`, and then follows the stored entity.
  ///
  ///     let books = api.mapValues(.book).through(store)
  ///     books.get(7).subscribe(onNext: { show($0) })  // the answer, and every later change
  ///
  /// The store is the single source of truth: an answer is merged with the stored value, and is not
  /// stored if the entity was written after the request. The signal also sends when a referenced
  /// entity changes, as ``EntityStore/signal(of:)`` does. It completes when the entity is removed,
  /// or empty if the source has no answer. When the store ends, it fails with
  /// `CacheError.scopeEnded`.
  ///
  /// Apply it last: no layer that waits for the end of a get should be above it.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - identity: The identity of the entity for a key, if known, so that removing the key also
  ///     removes the entity from the store.
  @inlinable
  public func through(
    _ store: EntityStore, identity: @escaping @Sendable (Key) -> Value.ID? = { _ in nil }
  ) -> StoreBackedSource<Self> {
    StoreBackedSource(base: self, store: store, identity: identity)
  }
}

extension Source where Value: Entity, Key == Value.ID {
  /// Returns a source that writes its answers into `store`, and then follows the stored entity.
  ///
  /// Keys are identities.
  @inlinable
  public func through(_ store: EntityStore) -> StoreBackedSource<Self> {
    through(store) { $0 }
  }
}

/// A source whose answers are entities of a store.
@frozen
public struct StoreBackedSource<Base: Source>: Cache where Base.Value: Entity {
  /// The keys of the base.
  public typealias Key = Base.Key

  /// The entities that the base answers with.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let store: EntityStore
  @usableFromInline let identity: @Sendable (Key) -> Value.ID?

  @inlinable
  init(base: Base, store: EntityStore, identity: @escaping @Sendable (Key) -> Value.ID?) {
    self.base = base
    self.store = store
    self.identity = identity
  }

  // Inlinable because all of it is generic: a get with metadata look-ups takes four times as long.

  /// Returns the base's answer, as the store has it, and its later values in the store.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    let (base, core) = (base, store.core)
    return Signal { observer, lifetime in
      // Entered before the request, so that an end of the store in between fails this subscriber.
      let watch = Watch<Value>(observer, lifetime)
      core.enter(watch) { _, _ in }
      let token = FillToken(for: lookup, during: watch.lifetime)
      base.get(key, lookup)
        .map { core.filled($0, token) }
        .distinct { $0.reference == $1.reference }
        .flatMap(.latest) { core.values(of: $0) }
        .run(
          Observer(next: { watch.post(.next($0)) }, other: { watch.post($0.typed()) }),
          watch.lifetime)
    }
  }

  /// Applies the change to the base and to the store.
  ///
  /// The store keeps the order of the calls, as the base does: a later write wins, whichever
  /// arrives first. A removal of a key reaches the store if the identity is known; a removal of all
  /// removes all entities of the type. A removal by predicate fails as unsupported and reaches
  /// neither, since the store knows no keys. A time to live of a value holds for the base only.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    if case .removeMatching = change {
      return .fail(
        CacheError.unsupportedRemoval("through a store", "since entities have no keys"))
    }
    let outcome = base.apply(change)
    switch change {
    case .set(_, let stamped, let revision):
      store.core.arrive(stamped.value.reference, revision, .set(stamped.value))
    case .remove(let key, let revision):
      identity(key).map { store.core.arrive(Reference<Value>($0), revision, .remove) }
    case .removeAll(let revision): store.core.removeAll(of: Value.self, revision)
    case .removeMatching, .fill: break
    }
    return outcome
  }

  /// Returns the base's topology behind this wrapper.
  public func topology(for key: Key?) -> Topology {
    Topology(.wrapper, "through a store", of: base.topology(for: key))
  }
}

extension EntityCore {
  /// Stores an answer of a source, and returns its retained reference.
  @inlinable
  func filled<E: Entity>(_ value: E, _ token: FillToken) -> FilledEntity<E> {
    let retention = retain(value.reference).scoped()
    fill(value, token)
    return (value.reference, retention)
  }

  /// Returns the values of the entity until it is absent; after the commit, inside a transaction.
  @inlinable
  func values<E>(of filled: FilledEntity<E>) -> Signal<E> {
    Signal { observer, lifetime in
      let follow: @Sendable () -> Void = {
        if !lifetime.isEnded { self.values(of: filled.reference).run(observer, lifetime) }
        filled.retention.dispose()
      }
      if self.turn.isMine() { self.afterDelivery(follow) } else { follow() }
    }
  }
}

/// A stored answer that cannot be evicted until its get observes it.
@usableFromInline
typealias FilledEntity<E: Entity> = (reference: Reference<E>, retention: ScopedDisposable)
