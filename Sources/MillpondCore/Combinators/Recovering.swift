public import MillpondSignals

extension Source {
  /// Asks `other` if a get here fails without a value; a miss does not count.
  ///
  /// If `other` fails too, the get fails with its failure; if `other` misses, with the first one. A
  /// failure after a value passes unchanged. Values of `other` are not stored here, and writes do
  /// not reach it.
  ///
  /// - Parameter other: The source to ask after a failure.
  @inlinable
  public func recovering<Other: Source<Key, Value>>(
    with other: Other
  ) -> Recovering<Self, Other> {
    Recovering(base: self, other: other)
  }
}

/// A source or cache with another source for failed gets.
public struct Recovering<Base: Source, Other: Source>: Wrapper, AnsweringSource
where Base.Key == Other.Key, Base.Value == Other.Value {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let other: Other
  @usableFromInline var title: String { "recovering" }

  @inlinable
  init(base: Base, other: Other) {
    self.base = base
    self.other = other
  }

  /// Returns the base's answer, or the other source's if the base fails.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    .withCaller { caller in
      base.layerAnswer(key, lookup).ifNotFound { failure, reason in
        guard let failure else { return reason.map { .just($0) } ?? .empty }
        if other.isBeside(lookup.freshness) { return .fail(failure) }
        return other.layerAnswer(key, lookup).inContext(of: caller)
          .ifNotFound { otherFailure, _ in .fail(otherFailure ?? failure) }
      }
    }
  }

  /// The base and the other source.
  public func topology(for key: Key?) -> Topology {
    Topology(.layers, title, of: base.topology(for: key), other.topology(for: key))
  }
}

extension Recovering: Cache where Base: Cache {}
