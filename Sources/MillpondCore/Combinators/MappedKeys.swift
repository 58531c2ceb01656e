public import MillpondSignals

extension Source {
  /// Can be asked by other keys, that `transform` turns into this one's.
  ///
  /// Keys that become equal share an entry. `transform` is called on every hit, so keep it cheap.
  @inlinable
  public func mapKeys<NewKey: Hashable & Sendable>(
    _ transform: @escaping @Sendable (NewKey) -> Key
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
  @usableFromInline let transform: @Sendable (NewKey) -> Base.Key

  @inlinable
  init(base: Base, transform: @escaping @Sendable (NewKey) -> Base.Key) {
    self.base = base
    self.transform = transform
  }

  /// Asks by the key of the base.
  @inlinable
  public func get(_ key: NewKey, _ lookup: Lookup) -> Signal<Value> {
    .deferred { base.get(transform(key), lookup) }
  }

  /// Asks by the key of the base.
  @inlinable
  public func getStamped(_ key: NewKey, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    .deferred { base.getStamped(transform(key), lookup) }
  }

  /// Asks by the key of the base.
  @inlinable
  public func now(_ key: NewKey, _ lookup: Lookup) -> Value? {
    base.now(transform(key), lookup)
  }

  /// Tells the base, by its key.
  @inlinable
  public func apply(_ change: Change<NewKey, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      base.apply(.set(transform(key), value, revision))
    case .remove(let key, let revision):
      base.apply(.remove(transform(key), revision))
    case .removeAll(let revision):
      base.apply(.removeAll(revision))
    case .fill(let key, let stamped, let mark):
      base.apply(.fill(transform(key), stamped, mark))
    }
  }

  /// The mark of the base, by its key.
  @inlinable
  public func mark(for key: NewKey) -> Mark {
    base.mark(for: transform(key))
  }

  /// The base, by its key.
  public func layout(for key: NewKey?) -> Layout {
    Layout(.wrapper, "keys mapped", of: base.layout(for: key.map(transform)))
  }
}

extension MappedKeys: Cache where Base: Cache {}
