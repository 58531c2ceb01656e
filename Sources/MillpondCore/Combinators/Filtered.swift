public import MillpondSignals

extension Source {
  /// Answers and keeps only values that satisfy `isWanted`.
  ///
  /// A value that doesn't is a miss, so that a lower layer is asked. To set one removes the key,
  /// since what was there is not the value any more; one that comes from a lower layer is not stored.
  ///
  /// - Parameter isWanted: Runs at every get, on the thread that answers, and at every set.
  @inlinable
  public func filtered(
    _ isWanted: @escaping @Sendable (Key, Value) -> Bool
  ) -> Filtered<Self> {
    Filtered(base: self, isWanted: isWanted)
  }
}

/// A source or cache of which only some values are answered and kept.
public struct Filtered<Base: Source>: Wrapper {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let isWanted: @Sendable (Key, Value) -> Bool
  @usableFromInline var title: String { "filtered" }

  @inlinable
  init(base: Base, isWanted: @escaping @Sendable (Key, Value) -> Bool) {
    self.base = base
    self.isWanted = isWanted
  }

  /// The base's answer, without what is not wanted.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    base.get(key, lookup).filter { isWanted(key, $0) }
  }

  /// The base's answer, without what is not wanted.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    base.getStamped(key, lookup).filter { isWanted(key, $0.value) }
  }

  /// What the base has at once, if it is wanted.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    guard let value = base.now(key, lookup), isWanted(key, value) else { return nil }
    return value
  }

  /// Tells the base; that to set what is not wanted is to remove the key.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision) where !isWanted(key, value):
      base.apply(.remove(key, revision))
    case .fill(let key, let stamped, _) where !isWanted(key, stamped.value): .empty
    default: base.apply(change)
    }
  }
}

extension Filtered: Cache where Base: Cache {}
