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
public struct Scoped<Base: Cache>: Cache {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let scope: CacheScope

  init(base: Base, scope: CacheScope) {
    self.base = base
    self.scope = scope
  }

  /// The base's answer, or ``CacheError/scopeEnded`` if the scope ends before that does.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    untilEnd(base.get(key, lookup))
  }

  /// The base's answer, or ``CacheError/scopeEnded`` if the scope ends before that does.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    untilEnd(base.getStamped(key, lookup))
  }

  /// What the base has at once.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    base.now(key, lookup)
  }

  /// Tells the base.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    base.apply(change)
  }

  /// The mark of the base.
  @inlinable
  public func mark(for key: Key) -> Mark {
    base.mark(for: key)
  }

  /// The base, and that it is scoped.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, "scoped", of: base.layout(for: key))
  }

  @usableFromInline
  func untilEnd<Answer>(_ signal: Signal<Answer>) -> Signal<Answer> {
    Signal { observer, lifetime in
      let serializer = Serializer(observer)
      let upstream = lifetime.child()
      scope.enter(upstream) {
        upstream.end()
        serializer.send(.failed(CacheError.scopeEnded))
      }
      signal.run(
        Observer(
          next: { if !upstream.isEnded { serializer.send(.next($0)) } },
          other: { event in
            if upstream.isEnded { return }
            if event.isTerminal { upstream.end() }
            serializer.send(event.typed())
          }), upstream)
    }
  }
}
