public import MillpondSignals

/// Any cache or source behind closures, to be kept in a property or to be made of a few lines.
///
/// A source that is no cache may be told: that succeeds and keeps nothing.
public struct AnyCache<Key: Hashable & Sendable, Value: Sendable>: Cache {
  @usableFromInline let onGet: @Sendable (Key, Lookup) -> Signal<Value>
  @usableFromInline let onGetStamped: @Sendable (Key, Lookup) -> Signal<Stamped<Value>>
  @usableFromInline let onNow: @Sendable (Key, Lookup) -> Value?
  @usableFromInline let onApply: @Sendable (Change<Key, Value>) -> Signal<Void>
  @usableFromInline let onMark: @Sendable (Key) -> Mark
  @usableFromInline let onLayout: @Sendable (Key?) -> Layout

  /// Hides which cache or source it is.
  @inlinable
  public init(_ source: some Source<Key, Value>) {
    onGet = { source.isBeside($1.freshness) ? .empty : source.get($0, $1) }
    onGetStamped = { source.isBeside($1.freshness) ? .empty : source.getStamped($0, $1) }
    onNow = { source.now($0, $1) }
    onApply = { source.apply($0) }
    onMark = { source.mark(for: $0) }
    onLayout = { source.layout(for: $0) }
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
    onGet = { key, lookup in lookup.freshness == .reload ? .empty : get(key) }
    onGetStamped = { key, lookup in
      lookup.freshness == .reload ? .empty : get(key).map { Stamped($0) }
    }
    onNow = { _, _ in nil }
    onApply = { tellings.apply($0) }
    onMark = { tellings.mark(for: $0) }
    onLayout = { _ in Layout(.store, "AnyCache") }
  }

  /// As the cache inside.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    onGet(key, lookup)
  }

  /// As the cache inside.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    onGetStamped(key, lookup)
  }

  /// As the cache inside.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    onNow(key, lookup)
  }

  /// As the cache inside.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    onApply(change)
  }

  /// As the cache inside.
  @inlinable
  public func mark(for key: Key) -> Mark {
    onMark(key)
  }

  /// As the cache inside.
  public func layout(for key: Key?) -> Layout {
    onLayout(key)
  }
}
