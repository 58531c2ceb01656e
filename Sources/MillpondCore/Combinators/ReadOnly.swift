public import MillpondSignals

extension Source {
  /// Ignores writes: they succeed and change nothing, and fills are refused.
  ///
  /// In a lower layer, the value stays when the upper layers are written, and is the answer again
  /// once they have evicted theirs.
  public func readOnly() -> ReadOnly<Self> {
    ReadOnly(base: self)
  }
}

/// A source or cache that ignores writes.
public struct ReadOnly<Base: Source>: Wrapper, AnsweringSource {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline var title: String { "read only" }

  init(base: Base) {
    self.base = base
  }

  /// Returns the base's answer.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    base.answers(key, lookup)
  }

  /// Succeeds without a change; refuses a fill.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    change.ignored
  }

  /// The base, which no write reaches.
  public func topology(for key: Key?) -> Topology {
    Topology(.wrapper, title, of: base.topology(for: key)).findingNoWrites()
  }
}

extension ReadOnly: Cache where Base: Cache {}
