public import MillpondSignals

extension Cache {
  /// Makes the cache a member of `scope`: at its end everything is removed, and no caller waits any more.
  ///
  /// Apply it last, so that nothing is kept above it. The scope keeps the cache while the result is in use,
  /// and then until the next end that removes everything, since what is on disk has to go also if the cache
  /// is not used any more.
  public func scoped(to scope: CacheScope) -> Scoped<Self> {
    Scoped(base: self, scope: scope)
  }
}

/// A cache whose answers belong to a scope.
public struct Scoped<Base: Cache>: Detour, Cache {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let membership: ScopeMembership
  @inlinable var scope: CacheScope { membership.scope }
  @usableFromInline var title: String { "scoped" }

  init(base: Base, scope: CacheScope) {
    self.base = base
    membership = ScopeMembership(
      scope, scope.add(isPersistent: true) { base.removeAll() }.scoped())
  }

  /// The base's answer, or ``CacheError/scopeEnded`` if the scope ends before that does.
  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    scope.untilEnd(.deferred(ask))
  }

  /// Writes to the base; the outcome of the scope's end waits for the outcome of the write.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    if !outcome.isDone { scope.wait(for: outcome) }
    return outcome
  }
}

/// The scope of a cache, which knows the cache for as long as this lasts: one object for a hit to carry along.
@usableFromInline
final class ScopeMembership: Sendable {
  @usableFromInline let scope: CacheScope
  private let handle: ScopedDisposable

  init(_ scope: CacheScope, _ handle: ScopedDisposable) {
    self.scope = scope
    self.handle = handle
  }
}
