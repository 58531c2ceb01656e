extension Signal {
  /// Passes on values and the completion later by `delay`, in order.
  ///
  /// Progress is not delayed. A failure is not delayed either, and drops the waiting events.
  ///
  /// - Parameters:
  ///   - delay: The delay; with zero or less, everything passes at once.
  ///   - clock: The clock that measures the time.
  /// - Complexity: One timer at a time. Buffers waiting values, without a bound.
  @inlinable
  public func delay(
    _ delay: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Scheduler(clock)) { _ in DelayRule(delay: delay) }
  }
}

/// The events that wait, the one due first in front.
@usableFromInline
@frozen
package struct DelayRule<Value: Sendable>: TimedRule {
  @usableFromInline let delay: Duration
  @usableFromInline var waiting = Queue<(event: Event<Value>, deadline: Duration)>()

  @inlinable
  package init(delay: Duration) {
    self.delay = delay.addable
  }

  @inlinable package var deadline: Duration? { waiting.first?.deadline }

  @inlinable
  package mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    switch event {
    case .progress, .failed: return event
    case .next, .completed:
      waiting.append((event, now + delay))
      return nil
    }
  }

  @inlinable
  package mutating func wake(at now: Duration) -> Event<Value>? {
    waiting.popFirst()?.event
  }
}
