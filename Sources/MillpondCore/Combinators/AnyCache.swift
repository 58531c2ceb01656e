public import MillpondSignals

/// A type-erased cache or source, wrapped around another one or made of closures; in Carlos a
/// `BasicCache`, made by `normalize`.
///
/// Writes to a wrapped source that is not a cache succeed and keep nothing.
@frozen
public struct AnyCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  /// A closure that removes the values of all keys that satisfy a predicate.
  public typealias MatchingRemoval =
    @Sendable (_ isRemoved: @escaping @Sendable (Key) -> Bool) -> Signal<Void>

  @usableFromInline let inside: ErasedCache<Key, Value>

  /// Erases the type of `source`.
  @inlinable
  public init(_ source: some Source<Key, Value>) {
    inside = ErasedCache(source)
  }

  /// Creates a cache of closures, or a source: a cache without closures for writes.
  ///
  /// The closures for writes are called in the order of the writes and never overlap: a
  /// write that arrives while another one is being called is carried out by the thread of that one,
  /// and gets wait until then; so a closure must not block its thread for a get of the same cache.
  /// If `set` returns before its work has ended, a removal of the key is carried out at once, and
  /// again when that has ended; two sets of a key have to keep their order themselves. A fill
  /// calls `set` too, unless the key was written after its token was taken. The age of the values
  /// is unknown: they count as new, and a time to live of their own is ignored. A get with
  /// ``Freshness/reload`` is a miss.
  ///
  /// Without all of them, the result behaves as a source: writes succeed and keep nothing, fills
  /// are refused, a reload calls `get`, and a get with ``Freshness/cachedOnly`` is a miss. If only
  /// some are left out, their writes fail with ``CacheError/unsupported(layer:write:)``, since the
  /// stored values would stay; but without `set`, a set removes the key.
  ///
  /// - Parameters:
  ///   - get: Returns the answer, by the rules of ``Source/get(_:_:)``.
  ///   - set: Stores a value; called at once.
  ///   - remove: Removes the value of a key; called at once.
  ///   - removeAll: Removes everything; called at once.
  ///   - removeMatching: Removes the values of all keys for which its parameter returns true;
  ///     called at once, also for a removal of everything that arrives after later writes, which
  ///     go too without this closure. It must not hold a lock while it calls the parameter, which is a user's
  ///     predicate.
  public init(
    get: @escaping @Sendable (Key) -> Signal<Value>,
    set: (@Sendable (Value, Key) -> Signal<Void>)? = nil,
    remove: (@Sendable (Key) -> Signal<Void>)? = nil,
    removeAll: (@Sendable () -> Signal<Void>)? = nil,
    removeMatching: MatchingRemoval? = nil
  ) {
    self.init(
      ClosureCache(
        get: { key, lookup in lookup.freshness.admitsStored ? get(key) : .empty },
        set: set, remove: remove, removeAll: removeAll, removeMatching: removeMatching),
      orSource: { key, _ in get(key) })
  }

  /// Creates a cache of closures, of which `get` also has the terms of the get.
  ///
  /// `get` decides what they mean: a cache misses if they do not admit its value, and always on
  /// ``Freshness/reload``. The other parameters are those of the form without a lookup.
  ///
  /// - Parameters:
  ///   - get: Returns the answer, by the rules of ``Source/get(_:_:)``.
  ///   - set: Stores a value; called at once.
  ///   - remove: Removes the value of a key; called at once.
  ///   - removeAll: Removes everything; called at once.
  ///   - removeMatching: Removes the values of all keys for which its parameter returns true;
  ///     called at once, also for a removal of everything that arrives after later writes, which
  ///     go too without this closure. It must not hold a lock while it calls the parameter, which is a user's
  ///     predicate.
  public init(
    get: @escaping @Sendable (Key, Lookup) -> Signal<Value>,
    set: (@Sendable (Value, Key) -> Signal<Void>)? = nil,
    remove: (@Sendable (Key) -> Signal<Void>)? = nil,
    removeAll: (@Sendable () -> Signal<Void>)? = nil,
    removeMatching: MatchingRemoval? = nil
  ) {
    self.init(
      ClosureCache(
        get: get, set: set, remove: remove, removeAll: removeAll, removeMatching: removeMatching),
      orSource: get)
  }

  /// Creates a cache of closures, or a source if it has none for writes.
  private init(
    _ cache: ClosureCache<Key, Value>,
    orSource get: @escaping @Sendable (Key, Lookup) -> Signal<Value>
  ) {
    inside = cache.isEmpty ? ErasedCache(FunctionSource.signal(get)) : ErasedCache(cache)
  }

  /// Forwards to the wrapped cache.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    inside.get(key, lookup)
  }

  /// Forwards to the wrapped cache.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    inside.answers(key, lookup)
  }

  /// Forwards to the wrapped cache.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    inside.now(key, lookup)
  }

  /// Forwards to the wrapped cache.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    inside.apply(change)
  }

  /// Forwards to the wrapped cache.
  public func topology(for key: Key?) -> Topology {
    inside.topology(key)
  }
}

extension Source {
  /// Whether this is a cache, also after type erasure.
  @usableFromInline
  var isCache: Bool {
    (self as? AnyCache<Key, Value>)?.inside.isCache ?? (self is any Cache)
  }
}

/// The closures that remain of a cache after type erasure.
///
/// Closures rather than a subclass: each is specialised for the type that it captures, whereas the
/// methods of a generic class look everything up by metadata. A hit retains this one object.
@usableFromInline
@_fixed_layout
final class ErasedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let get: @Sendable (Key, Lookup) -> Signal<Value>
  @usableFromInline let answers: @Sendable (Key, Lookup) -> Signal<Answer<Value>>
  @usableFromInline let now: @Sendable (Key, Lookup) -> Value?
  @usableFromInline let apply: @Sendable (Change<Key, Value>) -> Signal<Void>
  @usableFromInline let topology: @Sendable (Key?) -> Topology
  @usableFromInline let isCache: Bool

  @inlinable
  init(_ source: some Source<Key, Value>) {
    get = { key, lookup in
      source.isBeside(lookup.freshness) ? .empty : source.get(key, lookup)
    }
    answers = { key, lookup in
      source.isBeside(lookup.freshness) ? .empty : source.answers(key, lookup)
    }
    now = { key, lookup in
      source.isBeside(lookup.freshness) ? nil : source.now(key, lookup)
    }
    apply = { change in source.apply(change) }
    topology = { key in source.topology(for: key) }
    isCache = source.isCache
  }
}
