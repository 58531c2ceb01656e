public import MillpondSignals

extension Source {
  /// Can be asked by other keys, that `transform` turns into this one's in a task.
  ///
  /// Tellings keep their place: later ones of the same new key wait for those whose key is still
  /// being made, and so do later gets; ``Cache/removeAll()`` waits for all, and all wait for it. The
  /// order of tellings by different keys that become equal is kept by stores that keep revisions.
  /// What `transform` throws fails the get or the telling as it was thrown. Nothing is there at once.
  ///
  /// - Parameter transform: Its task is cancelled when nobody waits for the answer any more; that of
  ///   a telling is not.
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
  @usableFromInline let pending = PendingTellings<NewKey>()

  @inlinable
  init(base: Base, transform: @escaping @Sendable (NewKey) async throws -> Base.Key) {
    self.base = base
    self.transform = transform
  }

  /// Asks by the key of the base, after the tellings of this key that are on their way.
  @inlinable
  public func get(_ key: NewKey, _ lookup: Lookup) -> Signal<Value> {
    pending.ask(key) { withKey(key) { base.get($0, lookup) } }
  }

  /// Asks by the key of the base, after the tellings of this key that are on their way.
  @inlinable
  public func getStamped(_ key: NewKey, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    pending.ask(key) { withKey(key) { base.getStamped($0, lookup) } }
  }

  @inlinable
  func withKey<Answer>(
    _ key: NewKey, _ ask: @escaping @Sendable (Base.Key) -> Signal<Answer>
  ) -> Signal<Answer> {
    Signal.async { try await transform(key) }.flatMap { ask($0) }
  }

  /// Tells the base, by its key.
  @inlinable
  public func apply(_ change: Change<NewKey, Value>) -> Signal<Void> {
    // What takes time to find its key has its place in the order while it does.
    let onWay = change.revision.map { PendingWrite($0) }
    switch change {
    case .set(let key, let value, let revision):
      return pending.tell(key) {
        withKey(key) {
          defer { onWay?.end() }
          return base.apply(.set($0, value, revision))
        }
      }
    case .remove(let key, let revision):
      return pending.tell(key) {
        withKey(key) {
          defer { onWay?.end() }
          return base.apply(.remove($0, revision))
        }
      }
    case .removeAll(let revision): return pending.tellAll { base.apply(.removeAll(revision)) }
    case .fill(let key, let stamped, let token):
      let token = token.accepted
      return withKey(key) { base.apply(.fill($0, stamped, token)) }.started()
    }
  }

  /// The base; its key is not known at once.
  public func layout(for key: NewKey?) -> Layout {
    Layout(.wrapper, "keys mapped asynchronously", of: base.layout(for: nil))
      .flushed(after: { [pending] in pending.allDone() })
  }
}

extension AsyncMappedKeys: Cache where Base: Cache {}

extension PendingTellings {
  /// Asks when no telling of `key` is on its way any more.
  @usableFromInline
  func ask<Value>(
    _ key: Key, _ ask: @escaping @Sendable () -> Signal<Value>
  ) -> Signal<Value> {
    .asked { asker in self.wait(for: key) { ask().inContext(of: asker) } }
  }
}
