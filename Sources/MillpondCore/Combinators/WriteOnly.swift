public import MillpondSignals

extension Cache {
  /// Answers every get with a miss and does not ask the base; writes pass.
  @inlinable
  public func writeOnly() -> WriteOnly<Self> {
    WriteOnly(base: self)
  }
}

/// A cache that passes on writes and no gets.
public struct WriteOnly<Base: Cache>: Wrapper, Cache, AnsweringSource {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline var title: String { "write only" }

  @inlinable
  init(base: Base) {
    self.base = base
  }

  /// Completes empty.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    .empty
  }

  /// Returns `nil`.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    nil
  }

  /// The base, whose values no get finds.
  public func topology(for key: Key?) -> Topology {
    Topology(.wrapper, title, of: base.topology(for: key)).findingNoWrites()
  }
}
