extension Signal {
  /// Passes on the first `count` values, and completes; the upstream is told to stop.
  ///
  /// - Parameter count: How many; of zero or less the upstream is not even started.
  @inlinable
  public func take(_ count: Int) -> Signal {
    guard count > 0 else { return Signal { observer, _ in observer.completed() } }
    guard let start else { return self }
    return derived(now: now) { observer, lifetime in
      if observer.canSubscribe(lifetime) {
        let taking = Taking(observer, lifetime.child(), count: count)
        start(taking.observer, taking.lifetime)
      }
    }
  }
}

/// Sendable because the upstream calls serially, and nobody else does.
@usableFromInline
final class Taking<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let lifetime: Lifetime
  @exclusivity(unchecked) @usableFromInline var left: Int

  @inlinable
  init(_ downstream: Observer<Value>, _ lifetime: Lifetime, count: Int) {
    self.downstream = downstream
    self.lifetime = lifetime
    left = count
  }

  @inlinable
  var observer: Observer<Value> {
    Observer(next: { self.next($0) }, other: { self.other($0) })
  }

  @inlinable
  func next(_ value: Value) {
    guard left > 0 else { return }
    left -= 1
    let isLast = left == 0
    downstream.next(value)
    guard isLast, !lifetime.isEnded else { return }
    lifetime.end()
    downstream.completed()
  }

  @inlinable
  func other(_ event: Event<Never>) {
    guard left > 0 else { return }
    if event.isTerminal { lifetime.end() }
    downstream.other(event)
  }
}
