public import MillpondSignals

extension Cache {
  /// Makes the cache a member of `scope`, whose end removes everything and fails all waiting
  /// callers.
  ///
  /// Apply it to the whole composition, after the layers and what shares gets. Names, monitors and
  /// ``Source/remembered(in:_:clock:)`` may come before or after: what remembers answers of a member,
  /// or remembers them in one, is a member too. The scope keeps the cache while the result is in
  /// use, and then until the next end that removes everything: data on disk has to go even if the
  /// cache is no longer used.
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
  @usableFromInline var title: String { "scoped" }

  init(base: Base, scope: CacheScope) {
    self.base = base
    membership = ScopeMembership(
      [scope], [scope.add(isPersistent: true) { base.removeAll() }])
  }

  /// Returns the base's immediate value.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    membership.noteViewer()
    return base.now(key, lookup)
  }

  /// Returns the base's answer, which fails with ``CacheError/scopeEnded(key:)`` if the scope ends
  /// first.
  @inlinable
  func answer<Element>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Element>
  ) -> Signal<Element> {
    membership.untilEnd(.deferred(ask), key)
  }

  /// Writes to the base; an end of the scope waits for the outcome of the write.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    membership.wait(for: outcome)
    return outcome
  }

  /// The base and this wrapper.
  public func topology(for key: Key?) -> Topology {
    Topology(.wrapper, title, of: base.topology(for: key)).belonging(to: membership.scopes)
  }
}
