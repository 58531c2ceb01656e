public import MillpondSignals

extension Source {
  /// Is only asked: tellings to it succeed and change nothing, and nothing is stored in it.
  ///
  /// As a lower layer it keeps what it has when the upper ones are told something else: once they have
  /// dropped that, what it has is the answer again.
  @inlinable
  public func readOnly() -> ReadOnly<Self> {
    ReadOnly(base: self)
  }
}

/// A source or cache that is asked and not told.
public struct ReadOnly<Base: Source>: Wrapper {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline var title: String { "read only" }

  @inlinable
  init(base: Base) {
    self.base = base
  }

  /// The base's answer.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    base.get(key, lookup)
  }

  /// The base's answer.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    base.getStamped(key, lookup)
  }

  /// A write succeeds, and changes nothing; a fill is refused.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    change.isFill ? .empty : .just(())
  }
}

extension ReadOnly: Cache where Base: Cache {}
