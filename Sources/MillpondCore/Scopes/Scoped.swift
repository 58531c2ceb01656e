public import MillpondSignals

extension Cache {
  /// Makes the cache a member of `scope`, whose end removes everything and fails all waiting
  /// callers.
  ///
  /// Apply it last, so that no layer above stores anything. The scope keeps the cache while the
  /// result is in use, and then until the next end that removes everything: data on disk has to go
  /// even if the cache is no longer used.
  ///
  /// - Parameter scope: The scope to join.
  public func scoped(to scope: CacheScope) -> Scoped<Self> {
    Scoped(base: self, scope: scope)
  }
}

/// A cache whose answers belong to a scope.
public struct Scoped<Base: Cache>: GetWrapper, Cache {
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

  /// Returns the base's answer, which fails with ``CacheError/scopeEnded(key:)`` if the scope ends
  /// first.
  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    scope.untilEnd(.deferred(ask)) { String(withoutSecrets: key) }
  }

  /// Writes to the base; an end of the scope waits for the outcome of the write.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    scope.wait(for: outcome)
    return outcome
  }
}

/// The scope of a cache and its membership there, as one object for a hit to retain.
@usableFromInline
final class ScopeMembership: Sendable {
  @usableFromInline let scope: CacheScope
  private let handle: ScopedDisposable

  init(_ scope: CacheScope, _ handle: ScopedDisposable) {
    self.scope = scope
    self.handle = handle
  }
}
