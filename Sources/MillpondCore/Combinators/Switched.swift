public import MillpondSignals

extension Source {
  /// Asks and tells `other` instead of this for the keys that satisfy `isOther`.
  ///
  /// `removeAll` tells both. A key should always go the same way: of what was stored on the one way,
  /// the other knows nothing.
  ///
  /// - Parameter isOther: Is asked at every get and telling, so keep it cheap.
  @inlinable
  public func switched<Other: Source<Key, Value>>(
    to other: Other, when isOther: @escaping @Sendable (Key) -> Bool
  ) -> Switched<Self, Other> {
    Switched(base: self, other: other, isOther: isOther)
  }
}

/// Two sources or caches, of which the key decides which one is asked and told.
public struct Switched<Base: Source, Other: Source>: Source
where Base.Key == Other.Key, Base.Value == Other.Value {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let other: Other
  @usableFromInline let isOther: @Sendable (Key) -> Bool

  @inlinable
  init(base: Base, other: Other, isOther: @escaping @Sendable (Key) -> Bool) {
    self.base = base
    self.other = other
    self.isOther = isOther
  }

  /// The answer of the one whose key it is.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    if lookup.isObservable { return getStamped(key, lookup).map { $0.value } }
    return isOther(key) ? other.get(key, lookup) : base.get(key, lookup)
  }

  /// The answer of the one whose key it is.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    isOther(key) ? other.layerAnswer(key, lookup) : base.layerAnswer(key, lookup)
  }

  /// What the one whose key it is has at once.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    isOther(key) ? other.now(key, lookup) : base.now(key, lookup)
  }

  /// Tells the one whose key it is; both, if it concerns all keys.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, _, _), .remove(let key, _), .fill(let key, _, _):
      return isOther(key) ? other.apply(change) : base.apply(change)
    case .removeAll:
      let outcome = base.apply(change)
      return Outcome.both(outcome, other.apply(change))
    }
  }

  /// The one whose key it is; both, without a key.
  public func layout(for key: Key?) -> Layout {
    guard let key else {
      return Layout(.choice, "switched", of: base.layout(for: nil), other.layout(for: nil))
    }
    let chosen = isOther(key) ? other.layout(for: key) : base.layout(for: key)
    return Layout(.choice, "switched", of: chosen)
  }
}

extension Switched: Cache where Base: Cache, Other: Cache {}
