public import MillpondSignals

/// Any cache or source behind one type, to be kept in a property or to be made of a few closures.
///
/// A source that is no cache may be told: that succeeds and keeps nothing.
public struct AnyCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  @usableFromInline let inside: ErasedCache<Key, Value>

  /// Hides which cache or source it is.
  @inlinable
  public init(_ source: some Source<Key, Value>) {
    inside = ErasedCache(source)
  }

  /// Makes a cache of closures.
  ///
  /// `set`, `remove` and `removeAll` are called in the order of the tellings, never two at once: a
  /// telling that meets another on its way is carried out by the thread of that one. A fill is given
  /// to `set` as well, unless the key was told something while the lower layer was asked. It does not
  /// know how old its values are: they count as new; a reload passes it by.
  ///
  /// - Parameters:
  ///   - get: The answer, by the rules of ``Source/get(_:_:)``.
  ///   - set: Keeps a value, at once.
  ///   - remove: Forgets the value of a key, at once.
  ///   - removeAll: Forgets everything, at once.
  public init(
    get: @escaping @Sendable (Key) -> Signal<Value>,
    set: @escaping @Sendable (Value, Key) -> Signal<Void>,
    remove: @escaping @Sendable (Key) -> Signal<Void>,
    removeAll: @escaping @Sendable () -> Signal<Void>
  ) {
    let writes = ClosureWrites(set: set, remove: remove, removeAll: removeAll)
    inside = ErasedCache(ClosureCache(onGet: get, writes: writes))
  }

  /// As the cache inside.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    inside.get(key, lookup)
  }

  /// As the cache inside.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    inside.getStamped(key, lookup)
  }

  /// As the cache inside.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    inside.now(key, lookup)
  }

  /// As the cache inside.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    inside.apply(change)
  }

  /// As the cache inside.
  public func layout(for key: Key?) -> Layout {
    inside.layout(key)
  }
}

extension AnyCache: ErasedSource {
  var isOfCache: Bool {
    inside.isCache
  }
}

/// What erasure leaves of a cache.
///
/// Closures, not a subclass: whoever makes them knows the type, and gets code for just that, where
/// the methods of a generic class look everything up by metadata. One object for a hit to carry along.
@usableFromInline
final class ErasedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let get: @Sendable (Key, Lookup) -> Signal<Value>
  @usableFromInline let getStamped: @Sendable (Key, Lookup) -> Signal<Stamped<Value>>
  @usableFromInline let now: @Sendable (Key, Lookup) -> Value?
  @usableFromInline let apply: @Sendable (Change<Key, Value>) -> Signal<Void>
  @usableFromInline let layout: @Sendable (Key?) -> Layout
  @usableFromInline let isCache: Bool

  @inlinable
  init(_ source: some Source<Key, Value>) {
    get = { key, lookup in
      source.isBeside(lookup.freshness) ? .empty : source.get(key, lookup)
    }
    getStamped = { key, lookup in
      source.isBeside(lookup.freshness) ? .empty : source.getStamped(key, lookup)
    }
    now = { key, lookup in source.now(key, lookup) }
    apply = { change in source.apply(change) }
    layout = { key in source.layout(for: key) }
    isCache = source.isCache
  }
}

/// A cache of closures.
private struct ClosureCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  let onGet: @Sendable (Key) -> Signal<Value>
  let writes: ClosureWrites<Key, Value>

  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    lookup.freshness == .reload ? .empty : onGet(key)
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    writes.apply(change)
  }

  func layout(for key: Key?) -> Layout {
    Layout(.store, "AnyCache")
  }
}
