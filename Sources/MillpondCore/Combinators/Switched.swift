public import MillpondSignals

extension Source {
  /// Uses `other` instead of this source for the keys that satisfy `isOther`; `switchLevels` in
  /// Carlos.
  ///
  /// A removal of many keys reaches both. `isOther` should always give the same result for a key:
  /// neither source knows the other's values.
  ///
  /// - Parameters:
  ///   - other: The source or cache for these keys.
  ///   - isOther: Called at every get and write, so keep it cheap.
  public func switched<Other: Source<Key, Value>>(
    to other: Other, when isOther: @escaping @Sendable (Key) -> Bool
  ) -> Switched<Self, Other> {
    Switched(base: self, other: other, isOther: isOther)
  }
}

/// Two sources or caches between which the key decides.
public struct Switched<Base: Source, Other: Source>: AnsweringSource
where Base.Key == Other.Key, Base.Value == Other.Value {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let other: Other
  @usableFromInline let isOther: @Sendable (Key) -> Bool

  init(base: Base, other: Other, isOther: @escaping @Sendable (Key) -> Bool) {
    self.base = base
    self.other = other
    self.isOther = isOther
  }

  /// Returns the answer of the source chosen by the key.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    isOther(key) ? other.layerAnswer(key, lookup) : base.layerAnswer(key, lookup)
  }

  /// Returns the immediate value of the source chosen by the key.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    isOther(key)
      ? other.layerNow(key, lookup) { other.ownLabel }
      : base.layerNow(key, lookup) { base.ownLabel }
  }

  /// Writes to the source chosen by the key; removals of many keys reach both.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, _, _), .remove(let key, _), .fill(let key, _, _):
      return isOther(key) ? other.apply(change) : base.apply(change)
    case .removeAll, .removeMatching:
      let outcome = base.apply(change)
      return WriteOutcome.both(outcome, other.apply(change))
    }
  }

  /// The source chosen by the key; both, without a key.
  public func topology(for key: Key?) -> Topology {
    guard let key else {
      return Topology(.choice, "switched", of: base.topology(for: nil), other.topology(for: nil))
    }
    let chosen = isOther(key) ? other.topology(for: key) : base.topology(for: key)
    return Topology(.choice, "switched", of: chosen)
  }
}

extension Switched: Cache where Base: Cache, Other: Cache {}
