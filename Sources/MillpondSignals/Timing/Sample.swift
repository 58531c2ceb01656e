extension Signal {
  /// Passes on the newest value at each tick of `interval`, if one has arrived since the last tick.
  ///
  /// Ticks are counted from the subscription. When the signal completes, the waiting value is sent
  /// at once, before the completion; a failure drops it. Progress and failure pass at once.
  ///
  /// - Parameters:
  ///   - interval: The time between ticks; with less than a nanosecond, every value passes at once.
  ///   - clock: The clock that measures the time.
  /// - Complexity: A timer runs only while a value waits.
  @inlinable
  public func sample(
    every interval: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Scheduler(clock)) { SampleRule(interval: interval, beginning: $0) }
  }
}

/// The value that waits, and its tick.
@usableFromInline
@frozen
package struct SampleRule<Value: Sendable>: TimedRule {
  @usableFromInline let interval: Duration
  @usableFromInline let beginning: Duration
  @usableFromInline var held = PendingValue<Value>()

  @inlinable
  package init(interval: Duration, beginning: Duration) {
    self.interval = interval
    self.beginning = beginning
  }

  @inlinable package var deadline: Duration? { held.deadline }

  @inlinable
  package mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    guard case .next(let value) = event else { return held.received(event, at: now) }
    held.hold(value, until: deadline ?? tick(after: now))
    return nil
  }

  @inlinable
  package mutating func wake(at now: Duration) -> Event<Value>? {
    held.takeDue(at: now)
  }

  /// Returns the first tick after `now`.
  @inlinable
  package func tick(after now: Duration) -> Duration {
    interval >= .nanoseconds(1) ? Ticks(interval, from: beginning).next(after: now) : now
  }
}
