public import MillpondSignals

/// A source in front of another one, its base, that passes on everything it does not change.
///
/// A combinator states only what it changes. The protocol is internal but its witnesses are public,
/// so that they are specialised in a user's module as if each type had its own.
@usableFromInline
protocol Wrapper: Source where Key == Base.Key, Value == Base.Value {
  associatedtype Base: Source

  /// The source behind this one.
  var base: Base { get }

  /// A short description of the change.
  var title: String { get }
}

extension Wrapper {
  /// Returns the base's immediate value.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    base.now(key, lookup)
  }

  /// Writes to the base.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    base.apply(change)
  }

  /// Returns the base's stored value.
  @inlinable
  public func staleValue(of key: Key) -> Signal<Stamped<Value>>? {
    base.staleValue(of: key)
  }

  /// The base and this wrapper.
  public func topology(for key: Key?) -> Topology {
    Topology(.wrapper, title, of: base.topology(for: key))
  }
}

/// A wrapper that changes gets in the same way with and without the ages of values.
@usableFromInline
protocol GetWrapper: Wrapper {
  /// Returns the answer; `ask` makes the get of the base.
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer>
}

extension GetWrapper {
  /// Returns the base's answer, changed by ``answer(to:_:_:)``.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    answer(to: key, lookup) { base.get(key, lookup) }
  }

  /// Returns the base's answer, changed by ``answer(to:_:_:)``.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    answer(to: key, lookup) { base.getStamped(key, lookup) }
  }

  /// Returns the base's stored value, changed as a get of a stored value is.
  @inlinable
  public func staleValue(of key: Key) -> Signal<Stamped<Value>>? {
    base.staleValue(of: key).map { stale in
      answer(to: key, Lookup(freshness: .cachedOnly)) { stale }
    }
  }
}
