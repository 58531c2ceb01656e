public import Synchronization

extension Signal {
  /// Goes on with `fallback` if this completes without a value.
  @inlinable
  public func ifEmpty(_ fallback: @escaping @Sendable () -> Signal) -> Signal {
    followed { end, hadValue in
      if case .completed = end, !hadValue { fallback() } else { nil }
    }
  }

  /// Goes on with `fallback` if this ends without a value, however it ends.
  ///
  /// A failure after a value ends the signal as it is. This is the operator of layering.
  ///
  /// - Parameter fallback: Is given the failure, or nil if this completed.
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
  /// Goes on with another signal if this one fails, whether or not it sent values.
  ///
  /// - Parameter replacement: Is given the failure; fail with it again to let it pass. It is not asked
  ///   for one that is nested too deeply, see ``SignalError/nestedTooDeeply``.
  @inlinable
  public func recover(_ replacement: @escaping @Sendable (any Error) -> Signal) -> Signal {
    followed { end, _ in
      if case .failed(let error) = end { replacement(error) } else { nil }
    }
  }
}

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

/// Passes a run on, and at its end goes on with what follows.
@usableFromInline
final class Sequel<Value: Sendable>: Sendable {
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let upstreamLifetime: Lifetime
  @usableFromInline let successor: @Sendable (Event<Never>, Bool) -> Signal<Value>?

  /// Atomic only for the compiler: the upstream calls serially.
  @usableFromInline let hadValue: Atomic<Bool>

  @inlinable
  init(
    _ downstream: Observer<Value>, _ lifetime: Lifetime,
    successor: @escaping @Sendable (Event<Never>, Bool) -> Signal<Value>?
  ) {
    self.downstream = downstream
    self.lifetime = lifetime
    upstreamLifetime = lifetime.child()
    self.successor = successor
    hadValue = Atomic(false)
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
    if !event.isNestedTooDeeply, let next = successor(event, hadValue.load(ordering: .relaxed)) {
      next.run(downstream, lifetime)
    } else {
      downstream.other(event)
    }
  }
}
