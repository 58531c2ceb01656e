public import MillpondSignals

extension Cache {
  /// Is only told: every get is a miss, and the base is not asked.
  @inlinable
  public func writeOnly() -> WriteOnly<Self> {
    WriteOnly(base: self)
  }
}

/// A cache that is told and not asked.
public struct WriteOnly<Base: Cache>: Wrapper, Cache {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline var title: String { "write only" }

  @inlinable
  init(base: Base) {
    self.base = base
  }

  /// Completes empty.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    .empty
  }

  /// Completes empty.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    .empty
  }

  /// Nothing.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    nil
  }
}
