extension Signal {
  /// Goes on with another signal at the end of this one, if `successor` names one.
  ///
  /// The engine of ``ifEmpty(_:)``, ``ifNoValue(_:)`` and ``recover(_:)``. The upstream's lifetime
  /// ends before the successor's run begins.
  @inlinable
  func followed(
    by successor: @escaping @Sendable (_ end: Event<Never>, _ hadValue: Bool) -> Signal?
  ) -> Signal {
    guard let start else { return self }
    return derived(now: now) { observer, lifetime in
      if observer.canSubscribe(lifetime) {
        let sequel = Sequel(observer, lifetime, successor: successor)
        start(sequel.observer, sequel.upstreamLifetime)
      }
    }
  }
}

/// Sendable because the upstream calls serially, and nobody else does.
@usableFromInline
final class Sequel<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let upstreamLifetime: Lifetime
  @usableFromInline let successor: @Sendable (Event<Never>, Bool) -> Signal<Value>?
  @exclusivity(unchecked) @usableFromInline var hadValue = false

  @inlinable
  init(
    _ downstream: Observer<Value>, _ lifetime: Lifetime,
    successor: @escaping @Sendable (Event<Never>, Bool) -> Signal<Value>?
  ) {
    self.downstream = downstream
    self.lifetime = lifetime
    upstreamLifetime = lifetime.child()
    self.successor = successor
  }

  @inlinable
  var observer: Observer<Value> {
    Observer(next: { self.next($0) }, other: { self.other($0) })
  }

  @inlinable
  func next(_ value: Value) {
    hadValue = true
    downstream.next(value)
  }

  @inlinable
  func other(_ event: Event<Never>) {
    if event.isTerminal {
      end(event)
    } else {
      downstream.other(event)
    }
  }

  @inlinable
  func end(_ event: Event<Never>) {
    upstreamLifetime.end()
    if lifetime.isEnded { return }
    if !event.isNestedTooDeeply, let next = successor(event, hadValue) {
      next.run(downstream, lifetime)
    } else {
      downstream.other(event)
    }
  }
}
