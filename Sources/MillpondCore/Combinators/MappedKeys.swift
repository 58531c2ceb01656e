public import MillpondSignals

extension Source {
  /// Can be asked by other keys, that `transform` turns into this one's.
  ///
  /// Keys that become equal share an entry. `transform` is called on every hit, so keep it cheap. What
  /// it throws fails the get as it was thrown, and a set or a removal too, of which nothing is told.
  @inlinable
  public func mapKeys<NewKey: Hashable & Sendable>(
    _ transform: @escaping @Sendable (NewKey) throws -> Key
  ) -> MappedKeys<Self, NewKey> {
    MappedKeys(base: self, transform: transform)
  }
}

/// A source or cache that is asked by other keys.
public struct MappedKeys<Base: Source, NewKey: Hashable & Sendable>: Source {
  /// What is asked for.
  public typealias Key = NewKey

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let transform: @Sendable (NewKey) throws -> Base.Key

  @inlinable
  init(base: Base, transform: @escaping @Sendable (NewKey) throws -> Base.Key) {
    self.base = base
    self.transform = transform
  }

  /// Asks by the key of the base.
  @inlinable
  public func get(_ key: NewKey, _ lookup: Lookup) -> Signal<Value> {
    asking(key) { base.get($0, lookup) }
  }

  /// Asks by the key of the base.
  @inlinable
  public func getStamped(_ key: NewKey, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    asking(key) { base.getStamped($0, lookup) }
  }

  @inlinable
  func asking<Answer>(
    _ key: NewKey, _ ask: @escaping @Sendable (Base.Key) -> Signal<Answer>
  ) -> Signal<Answer> {
    .deferred {
      do {
        return ask(try transform(key))
      } catch {
        return .fail(error)
      }
    }
  }

  /// Asks by the key of the base; what has no such key is not there at once.
  @inlinable
  public func now(_ key: NewKey, _ lookup: Lookup) -> Value? {
    guard let key = try? transform(key) else { return nil }
    return base.now(key, lookup)
  }

  /// Tells the base, by its key.
  @inlinable
  public func apply(_ change: Change<NewKey, Value>) -> Signal<Void> {
    do {
      return base.apply(try change.mapKey(transform))
    } catch {
      return .fail(error)
    }
  }

  /// The base, by its key.
  public func layout(for key: NewKey?) -> Layout {
    Layout(.wrapper, "keys mapped", of: base.layout(for: key.flatMap { try? transform($0) }))
  }
}

extension MappedKeys: Cache where Base: Cache {}

extension Change {
  @inlinable
  func mapKey<NewKey>(_ transform: (Key) throws -> NewKey) rethrows -> Change<NewKey, Value> {
    switch self {
    case .set(let key, let value, let revision): .set(try transform(key), value, revision)
    case .remove(let key, let revision): .remove(try transform(key), revision)
    case .removeAll(let revision): .removeAll(revision)
    case .fill(let key, let stamped, let token): .fill(try transform(key), stamped, token)
    }
  }
}

extension Source {
  /// Can be asked by other keys, that `transform` turns into this one's in a task.
  ///
  /// A get waits until the writes of its key that were called before it have arrived; a write waits for
  /// nothing but its own key. Which of several wins is decided by their revisions, in the stores below:
  /// the later one, whatever arrives first. What `transform` throws fails the get or the write as it was
  /// thrown, and a `transform` that asks for what waits for it gets ``CacheError/circular(key:)``.
  /// Nothing is there at once.
  ///
  /// - Parameter transform: Its task is cancelled when nobody waits for the answer any more; that of
  ///   a write is not.
  @inlinable
  public func mapKeys<NewKey: Hashable & Sendable>(
    asynchronously transform: @escaping @Sendable (NewKey) async throws -> Key
  ) -> AsyncMappedKeys<Self, NewKey> {
    AsyncMappedKeys(base: self, transform: transform)
  }
}

/// A source or cache that is asked by other keys, which it takes time to make.
public struct AsyncMappedKeys<Base: Source, NewKey: Hashable & Sendable>: Source {
  /// What is asked for.
  public typealias Key = NewKey

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let transform: @Sendable (NewKey) async throws -> Base.Key
  @usableFromInline let delayed = DelayedWrites<NewKey>()

  @inlinable
  init(base: Base, transform: @escaping @Sendable (NewKey) async throws -> Base.Key) {
    self.base = base
    self.transform = transform
  }

  /// Asks by the key of the base, after the writes of this key that are on their way.
  @inlinable
  public func get(_ key: NewKey, _ lookup: Lookup) -> Signal<Value> {
    delayed.ask(key) { withKey(key) { base.get($0, lookup) } }
  }

  /// Asks by the key of the base, after the writes of this key that are on their way.
  @inlinable
  public func getStamped(_ key: NewKey, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    delayed.ask(key) { withKey(key) { base.getStamped($0, lookup) } }
  }

  @inlinable
  func withKey<Answer>(
    _ key: NewKey, _ ask: @escaping @Sendable (Base.Key) -> Signal<Answer>
  ) -> Signal<Answer> {
    Signal.async { try await transform(key) }.flatMap { ask($0) }
  }

  /// Writes to the base, by its key.
  @inlinable
  public func apply(_ change: Change<NewKey, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      return write(key, revision) { .set($0, value, revision) }
    case .remove(let key, let revision):
      return write(key, revision) { .remove($0, revision) }
    case .removeAll(let revision):
      let outcome = base.apply(.removeAll(revision))
      delayed.overtakeAll(revision)
      return outcome
    case .fill(let key, let stamped, let token):
      let token = token.accepted
      return withKey(key) { base.apply(.fill($0, stamped, token)) }.started()
    }
  }

  @inlinable
  func write(
    _ key: NewKey, _ revision: Revision,
    _ change: @escaping @Sendable (Base.Key) -> Change<Base.Key, Value>
  ) -> Signal<Void> {
    delayed.write(key, revision) {
      Signal.async { try await transform(key) }.map { base.apply(change($0)) }
    }
  }

  /// The base; its key is not known at once.
  public func layout(for key: NewKey?) -> Layout {
    Layout(.wrapper, "keys mapped asynchronously", of: base.layout(for: nil))
      .flushed(after: { [delayed] in delayed.allArrived() })
  }
}

extension AsyncMappedKeys: Cache where Base: Cache {}
