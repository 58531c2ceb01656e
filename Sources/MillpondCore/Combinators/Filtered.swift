public import MillpondSignals

extension Source {
  /// Answers and stores only values that satisfy `isWanted`.
  ///
  /// Any other value is a miss, so that a lower layer is asked. Setting one removes the key, since
  /// the stored value is out of date; the answer to a reload does the same. Any other fill with an
  /// unwanted value is refused.
  ///
  /// - Parameter isWanted: Called for each value of a get, on the thread that answers, and for each
  ///   set and fill.
  public func filtered(
    _ isWanted: @escaping @Sendable (Key, Value) -> Bool
  ) -> Filtered<Self> {
    Filtered(base: self, isWanted: isWanted)
  }
}

/// A source or cache that answers and stores only some values.
public struct Filtered<Base: Source>: Wrapper, AnsweringSource {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let isWanted: @Sendable (Key, Value) -> Bool
  @usableFromInline var title: String { "filtered" }

  init(base: Base, isWanted: @escaping @Sendable (Key, Value) -> Bool) {
    self.base = base
    self.isWanted = isWanted
  }

  /// Returns the base's answer without unwanted values.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    base.answers(key, lookup).filter { answer in
      switch answer {
      case .value(let stamped), .stale(let stamped): isWanted(key, stamped.value)
      case .tooOld, .undecodable, .notModified: true
      }
    }
  }

  /// Returns the base's immediate value if it is wanted.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    base.now(key, lookup) { isWanted(key, $0) ? $0 : nil }
  }

  /// Writes to the base; an unwanted value removes the key.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let stamped, let revision) where !isWanted(key, stamped.value):
      base.apply(.remove(key, revision))
    case .fill(let key, let stamped, let token) where !isWanted(key, stamped.value):
      base.removeOutdated(key, token)
    default: base.apply(change)
    }
  }
}

extension Filtered: Cache where Base: Cache {}
