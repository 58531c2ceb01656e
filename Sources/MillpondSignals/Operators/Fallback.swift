public import Synchronization

extension Signal {
  /// Continues with `fallback` if this signal completes without a value.
  @inlinable
  public func ifEmpty(_ fallback: @escaping @Sendable () -> Signal) -> Signal {
    followed { end, hadValue in
      if case .completed = end, !hadValue { fallback() } else { nil }
    }
  }

  /// Continues with `fallback` if this signal ends without a value, by completion or failure.
  ///
  /// A failure after a value ends the signal. Layering is built on this operator.
  ///
  /// - Parameter fallback: Receives the failure, or nil if this signal completed.
  @inlinable
  public func ifNoValue(_ fallback: @escaping @Sendable ((any Error)?) -> Signal) -> Signal {
    followed { end, hadValue in
      if hadValue { return nil }
      if case .failed(let error) = end { return fallback(error) }
      return fallback(nil)
    }
  }
}

extension Signal {
  /// Continues at the end of this signal with the one that `successor` returns, if any.
  ///
  /// The engine of ``ifEmpty(_:)``, ``ifNoValue(_:)`` and ``recover(_:)``. The upstream's lifetime
  /// ends before the successor's run begins.
  @inlinable
  func followed(
    by successor: @escaping @Sendable (_ end: Event<Never>, _ hadValue: Bool) -> Signal?
  ) -> Signal {
    guard let start else { return self }
    return derived(now: now) { observer, lifetime in
      let run = FallbackRun(observer, lifetime, successor: successor)
      start(run.observer, run.upstreamLifetime)
    }
  }
}

/// A run, and the successor that follows its end.
@usableFromInline
@_fixed_layout
final class FallbackRun<Value: Sendable>: Sendable {
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let upstreamLifetime: Lifetime
  @usableFromInline let successor: @Sendable (Event<Never>, Bool) -> Signal<Value>?

  /// Whether the run has sent a value.
  ///
  /// Atomic only for the compiler: the upstream calls serially.
  @usableFromInline let hadValue = AtomicValue(false)

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
    hadValue.store(true, ordering: .relaxed)
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
    if let next = successor(event, hadValue.load(ordering: .relaxed)) {
      next.run(downstream, lifetime)
    } else {
      downstream.other(event)
    }
  }
}
