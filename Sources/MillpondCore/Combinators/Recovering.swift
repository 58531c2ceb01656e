public import MillpondSignals

extension Source {
  /// Asks `other` if a get here fails without a value; not if it misses.
  ///
  /// If that fails, too, its failure passes; if it misses, the first one does. A failure after a value
  /// ends the get as it is. What `other` gives is not stored here, and tellings do not reach it.
  @inlinable
  public func recovering<Other: Source<Key, Value>>(
    with other: Other
  ) -> Recovering<Self, Other> {
    Recovering(base: self, other: other)
  }
}

/// A source or cache with another source for when it fails.
public struct Recovering<Base: Source, Other: Source>: Wrapper, StampedSource
where Base.Key == Other.Key, Base.Value == Other.Value {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let other: Other
  @usableFromInline var title: String { "recovering" }

  @inlinable
  init(base: Base, other: Other) {
    self.base = base
    self.other = other
  }

  /// The base's answer, or the other one's if that fails.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    .asked { asker in
      base.layerAnswer(key, lookup).ifNoValue { failure in
        guard let failure else { return .empty }
        if other.isBeside(lookup.freshness) { return .fail(failure) }
        return other.layerAnswer(key, lookup).inContext(of: asker).ifEmpty { .fail(failure) }
      }
    }
  }

  /// The base, and the other one.
  public func layout(for key: Key?) -> Layout {
    Layout(.layers, title, of: base.layout(for: key), other.layout(for: key))
  }
}

extension Recovering: Cache where Base: Cache {}
