extension Signal {
  /// Passes on the newest value at each tick of `interval`, counted from the subscription, if one
  /// has come since the tick before.
  ///
  /// The value that waits when the signal completes is sent at once, before the completion; a
  /// failure drops it. Progress and failure pass at once.
  ///
  /// - Parameter interval: Of less than a nanosecond: every value passes at once.
  /// - Complexity: A timer runs only while a value waits.
  @inlinable
  public func sample(
    every interval: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Timeline(clock)) { SampleRule(interval: interval, beginning: $0) }
  }
}

/// Which value waits for which tick.
@usableFromInline
package struct SampleRule<Value: Sendable>: TimedRule {
  @usableFromInline let interval: Duration
  @usableFromInline let beginning: Duration
  @usableFromInline var held = HeldValue<Value>()

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

  /// The first tick that is later than `now`.
  @inlinable
  package func tick(after now: Duration) -> Duration {
    guard interval >= .nanoseconds(1) else { return now }
    let ticks = Int((now - beginning) / interval)
    var tick = beginning + interval * ticks
    while tick <= now { tick += interval }
    return tick
  }
}
