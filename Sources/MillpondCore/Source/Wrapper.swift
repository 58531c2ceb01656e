public import MillpondSignals

/// What stands before one other source, its base, and passes on to it whatever it does not change.
///
/// A combinator states what it changes, the rest is here once. The protocol is not public, its
/// witnesses are: they are specialised in a user's module as if each type had written them.
@usableFromInline
protocol Wrapper: Source where Key == Base.Key, Value == Base.Value {
  associatedtype Base: Source

  /// What it stands before.
  var base: Base { get }

  /// What it does, in a few words.
  var title: String { get }
}

extension Wrapper {
  /// What the base has at once.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    base.now(key, lookup)
  }

  /// Tells the base.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    base.apply(change)
  }

  /// The base, and what stands before it.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, title, of: base.layout(for: key))
  }
}

/// A wrapper that changes how its base is asked or answers, whether or not the ages of the values
/// are wanted along with them.
@usableFromInline
protocol Detour: Wrapper {
  /// The answer, where `ask` is what the base would be asked.
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer>
}

extension Detour {
  /// The base's answer, the long way round.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    answer(to: key, lookup) { base.get(key, lookup) }
  }

  /// The base's answer, the long way round.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    answer(to: key, lookup) { base.getStamped(key, lookup) }
  }
}
