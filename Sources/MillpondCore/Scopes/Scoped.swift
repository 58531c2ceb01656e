public import MillpondSignals

extension Cache {
  /// Lets the cache end with `scope`: then it keeps nothing, and nobody waits for it any more.
  ///
  /// Apply it last, so that nothing is kept above it. The scope keeps the cache, since what is on
  /// disk has to be removed also if nobody uses it any more.
  public func scoped(to scope: CacheScope) -> Scoped<Self> {
    scope.add { removeAll() }
    return Scoped(base: self, scope: scope)
  }
}

/// A cache whose answers belong to a scope.
public struct Scoped<Base: Cache>: Detour, Cache {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let scope: CacheScope
  @usableFromInline var title: String { "scoped" }

  init(base: Base, scope: CacheScope) {
    self.base = base
    self.scope = scope
  }

  /// The base's answer, or ``CacheError/scopeEnded`` if the scope ends before that does.
  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    scope.untilEnd(.deferred(ask))
  }
}
