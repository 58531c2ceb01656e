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

  /// The base and this wrapper.
  public func topology(for key: Key?) -> Topology {
    Topology(.wrapper, title, of: base.topology(for: key))
  }
}

/// A wrapper that treats all answers to a get alike, whatever they contain.
@usableFromInline
protocol GetWrapper: Wrapper {
  /// Returns the answer; `ask` makes the get of the base.
  func answer<Element>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Element>
  ) -> Signal<Element>
}

extension GetWrapper {
  /// Returns the base's answer, changed by ``answer(to:_:_:)``.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    answer(to: key, lookup) { base.get(key, lookup) }
  }

  /// Returns the base's answer, changed by ``answer(to:_:_:)``.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    answer(to: key, lookup) { base.answers(key, lookup) }
  }
}
