public import MillpondCore
public import MillpondSignals

extension Source where Value: Entity {
  /// Writes what it answers into `store`, and answers what the store has from then on.
  ///
  ///     let books = api.mapValues(.book).through(store)
  ///     books.get(7).subscribe(onNext: { show($0) })  // the answer, and every later change
  ///
  /// The store is the one truth: an answer is merged with what is there, and is not stored if the
  /// entity was written since the question. The signal goes on until the entity is removed,
  /// and completes then; it completes empty where the source has no answer. It is told of what the
  /// entity refers to, as ``EntityStore/signal(of:)`` is. When the store ends, it fails with
  /// ``CacheError/scopeEnded``.
  ///
  /// Apply it last: nothing that waits for the end of a get should stand over it.
  ///
  /// - Parameter identity: Which entity a key asks for, if that can be told: so a key that is removed
  ///   is removed from the store too.
  @inlinable
  public func through(
    _ store: EntityStore, identity: @escaping @Sendable (Key) -> Value.ID? = { _ in nil }
  ) -> ThroughStore<Self> {
    ThroughStore(base: self, store: store, identity: identity)
  }
}

extension Source where Value: Entity, Key == Value.ID {
  /// Writes what it answers into `store`, and answers what the store has from then on.
  ///
  /// Keys are identities.
  @inlinable
  public func through(_ store: EntityStore) -> ThroughStore<Self> {
    through(store) { $0 }
  }
}

/// A source whose answers are entities of a store.
public struct ThroughStore<Base: Source>: Cache where Base.Value: Entity {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
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

  // Inlinable, since all of it is generic: looked up by metadata, a get takes four times as long.

  /// The base's answer, and what becomes of it in the store.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    let (base, core) = (base, store.core)
    return Signal { observer, lifetime in
      // Entered before the question: an end that comes between would find nobody to fail.
      let watch = Watch<Value>(observer, lifetime)
      core.enter(watch) { _, _, _ in }
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

  /// Tells the base, and the store, which keeps the order of the calls as the base does: what was set
  /// or removed later stays so, whatever arrives first.
  ///
  /// A removal of a key reaches the store if the identity is known; a removal of all takes all
  /// entities of the type.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    switch change {
    case .set(_, let value, let revision): store.core.set(value, revision)
    case .remove(let key, let revision):
      identity(key).map { store.core.remove(Reference<Value>($0), revision) }
    case .removeAll(let revision): store.core.removeAll(of: Value.self, revision)
    case .fill: break
    }
    return outcome
  }

  /// The base, and what stands before it.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, "through a store", of: base.layout(for: key))
  }
}

extension EntityCore {
  /// Keeps what a source has brought, and gives what stands for it, retained.
  @inlinable
  func filled<E: Entity>(_ value: E, _ token: FillToken) -> FilledEntity<E> {
    let filled = FilledEntity(
      reference: value.reference, retention: retain(value.reference).scoped())
    fill(value, token)
    return filled
  }

  /// The entity as long as there is one; when it is committed, if it has been brought within a
  /// transaction.
  @inlinable
  func values<E>(of filled: FilledEntity<E>) -> Signal<E> {
    Signal { observer, lifetime in
      let follow: Notice = {
        if !lifetime.isEnded { self.values(of: filled.reference).run(observer, lifetime) }
        filled.retention.dispose()
      }
      if self.turn.isMine() { self.afterTelling(follow) } else { follow() }
    }
  }
}

/// An answer that is in a store, and stays there until somebody observes it, whatever room there is.
@usableFromInline
struct FilledEntity<E: Entity>: Sendable {
  @usableFromInline let reference: Reference<E>
  @usableFromInline let retention: ScopedDisposable

  @inlinable
  init(reference: Reference<E>, retention: ScopedDisposable) {
    self.reference = reference
    self.retention = retention
  }
}
