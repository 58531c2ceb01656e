public import MillpondSignals

/// Any cache or source behind one type, to be kept in a property or to be made of a few closures.
///
/// A source that is no cache may be told: that succeeds and keeps nothing.
public struct AnyCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  @usableFromInline let box: CacheBox<Key, Value>

  /// Hides which cache or source it is.
  @inlinable
  public init(_ source: some Source<Key, Value>) {
    box = BoxedSource(source)
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
    let tellings = Tellings(set: set, remove: remove, removeAll: removeAll)
    box = BoxedSource(ClosureCache(onGet: get, tellings: tellings))
  }

  /// As the cache inside.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    box.get(key, lookup)
  }

  /// As the cache inside.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    box.getStamped(key, lookup)
  }

  /// As the cache inside.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    box.now(key, lookup)
  }

  /// As the cache inside.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    box.apply(change)
  }

  /// As the cache inside.
  @inlinable
  public func mark(for key: Key) -> Mark {
    box.mark(for: key)
  }

  /// As the cache inside.
  public func layout(for key: Key?) -> Layout {
    box.layout(for: key)
  }
}

/// What erasure leaves of a cache: by itself, one of nothing.
///
/// Sendable because it has no state, and what inherits from it has one constant.
@usableFromInline
class CacheBox<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  @inlinable
  init() {}

  @inlinable
  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> { .empty }

  @inlinable
  func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> { .empty }

  @inlinable
  func now(_ key: Key, _ lookup: Lookup) -> Value? { nil }

  @inlinable
  func apply(_ change: Change<Key, Value>) -> Signal<Void> { .just(()) }

  @inlinable
  func mark(for key: Key) -> Mark { .any }

  @usableFromInline
  func layout(for key: Key?) -> Layout { EmptyCache<Key, Value>().layout(for: key) }
}

/// A source in its box.
@usableFromInline
final class BoxedSource<Base: Source>: CacheBox<Base.Key, Base.Value>, @unchecked Sendable {
  @usableFromInline let base: Base

  @inlinable
  init(_ base: Base) {
    self.base = base
  }

  @inlinable
  override func get(_ key: Base.Key, _ lookup: Lookup) -> Signal<Base.Value> {
    base.isBeside(lookup.freshness) ? .empty : base.get(key, lookup)
  }

  @inlinable
  override func getStamped(_ key: Base.Key, _ lookup: Lookup) -> Signal<Stamped<Base.Value>> {
    base.isBeside(lookup.freshness) ? .empty : base.getStamped(key, lookup)
  }

  @inlinable
  override func now(_ key: Base.Key, _ lookup: Lookup) -> Base.Value? {
    base.now(key, lookup)
  }

  @inlinable
  override func apply(_ change: Change<Base.Key, Base.Value>) -> Signal<Void> {
    base.apply(change)
  }

  @inlinable
  override func mark(for key: Base.Key) -> Mark {
    base.mark(for: key)
  }

  @usableFromInline
  override func layout(for key: Base.Key?) -> Layout {
    base.layout(for: key)
  }
}

/// A cache of closures.
private struct ClosureCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  let onGet: @Sendable (Key) -> Signal<Value>
  let tellings: Tellings<Key, Value>

  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    lookup.freshness == .reload ? .empty : onGet(key)
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    tellings.apply(change)
  }

  func mark(for key: Key) -> Mark {
    tellings.mark(for: key)
  }

  func layout(for key: Key?) -> Layout {
    Layout(.store, "AnyCache")
  }
}
