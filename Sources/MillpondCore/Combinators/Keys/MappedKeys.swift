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
