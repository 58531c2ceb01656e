public import MillpondSignals

extension Source {
  /// Changes the key type: `transform` turns the new keys into this source's keys.
  ///
  /// Keys with equal results share an entry. Keys that are equal must have equal results, or one of
  /// them does not find or remove what the other has stored: a text may have its accents in two
  /// forms, and zero is equal to -0.0. `transform` is called on every hit, so keep it cheap.
  /// Its errors fail the get, set or removal unchanged; the base is then neither asked nor written.
  /// ``Cache/removeAll(where:)`` fails as unsupported, and removes nothing from the base: its keys
  /// can't be turned back. Carlos calls this `transformKeys`.
  public func mapKeys<NewKey: Hashable & Sendable>(
    _ transform: @escaping @Sendable (NewKey) throws -> Key
  ) -> MappedKeys<Self, NewKey> {
    MappedKeys(base: self, keys: KeyMapping(transform, inverse: nil))
  }

  /// Changes the key type by `transform`, which `inverse` turns back, so that
  /// ``Cache/removeAll(where:)`` is possible.
  ///
  ///     disk.mapKeys { (id: Int) in "user/\(id)" } inverse: { Int($0.dropFirst(5)) }
  ///
  /// Otherwise the same as ``mapKeys(_:)``.
  ///
  /// - Parameters:
  ///   - transform: Turns a new key into one of this source.
  ///   - inverse: Turns a key of this source back; nil for a key that no new key is turned into. A
  ///     removal by predicate calls it for every key. A key for which it throws stays, and the
  ///     removal fails with that error.
  public func mapKeys<NewKey: Hashable & Sendable>(
    _ transform: @escaping @Sendable (NewKey) throws -> Key,
    inverse: @escaping @Sendable (Key) throws -> NewKey?
  ) -> MappedKeys<Self, NewKey> {
    MappedKeys(base: self, keys: KeyMapping(transform, inverse: inverse))
  }
}

/// A source or cache with other keys.
public struct MappedKeys<Base: Source, NewKey: Hashable & Sendable>: Source {
  /// The new key type.
  public typealias Key = NewKey

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let keys: KeyMapping<NewKey, Base.Key>

  init(base: Base, keys: KeyMapping<NewKey, Base.Key>) {
    self.base = base
    self.keys = keys
  }

  /// Asks the base by its own key.
  @inlinable
  public func get(_ key: NewKey, _ lookup: Lookup) -> Signal<Value> {
    asking(key) { base.get($0, lookup) }
  }

  /// Asks the base by its own key.
  @inlinable
  public func answers(_ key: NewKey, _ lookup: Lookup) -> Signal<Answer<Value>> {
    asking(key) { base.answers($0, lookup) }
  }

  @inlinable
  func asking<Element>(
    _ key: NewKey, _ ask: @escaping @Sendable (Base.Key) -> Signal<Element>
  ) -> Signal<Element> {
    .deferred { .attempt { ask(try keys.transform(key)) } }
  }

  /// Returns the base's immediate value; `nil` if `transform` throws.
  @inlinable
  public func now(_ key: NewKey, _ lookup: Lookup) -> Value? {
    guard let key = try? keys.transform(key) else { return nil }
    return base.now(key, lookup)
  }

  /// Writes to the base by its own key.
  @inlinable
  public func apply(_ change: Change<NewKey, Value>) -> Signal<Void> {
    .attempt { base.apply(try change.mapKey(keys)) }
  }

  /// The base, by its own key.
  public func topology(for key: NewKey?) -> Topology {
    Topology(
      .wrapper, "keys mapped", of: base.topology(for: key.flatMap { try? keys.transform($0) }))
  }
}

extension MappedKeys: Cache where Base: Cache {}

/// The functions that change the keys of a source.
///
/// One object, so that each closure of a get retains one reference: with two, a hit took 1.7 times
/// as long.
@usableFromInline
final class KeyMapping<Key: Sendable, BaseKey: Sendable>: Sendable {
  @usableFromInline let transform: @Sendable (Key) throws -> BaseKey
  @usableFromInline let inverse: (@Sendable (BaseKey) throws -> Key?)?

  init(
    _ transform: @escaping @Sendable (Key) throws -> BaseKey,
    inverse: (@Sendable (BaseKey) throws -> Key?)?
  ) {
    self.transform = transform
    self.inverse = inverse
  }
}

extension Change {
  @inlinable
  func mapKey<NewKey>(_ keys: KeyMapping<Key, NewKey>) throws -> Change<NewKey, Value> {
    switch self {
    case .set(let key, let value, let revision):
      return .set(try keys.transform(key), value, revision)
    case .remove(let key, let revision): return .remove(try keys.transform(key), revision)
    case .removeAll(let revision): return .removeAll(revision)
    case .removeMatching(let predicate, let revision):
      guard let inverse = keys.inverse else {
        throw CacheError.unsupportedRemoval("keys mapped", "without an inverse for the keys")
      }
      return .removeMatching(predicate.mapped(inverse), revision)
    case .fill(let key, let stamped, let token):
      return .fill(try keys.transform(key), stamped, token)
    }
  }
}
