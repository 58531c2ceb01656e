extension Signal {
  /// Passes on at most one value in each `interval`, starting with the first.
  ///
  /// A completion sends the waiting value at once, and then passes; a failure drops it. Progress
  /// and failure pass at once.
  ///
  /// - Parameters:
  ///   - interval: The shortest time between two values; with zero or less, all pass.
  ///   - latest: Whether the newest value within an interval is passed on when it is over, or dropped
  ///     like the others.
  ///   - clock: The clock that measures the time.
  /// - Complexity: At most one timer in each interval; none without `latest`.
  @inlinable
  public func throttle(
    _ interval: Duration, latest: Bool = true,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Scheduler(clock)) { _ in ThrottleRule(interval: interval, latest: latest) }
  }
}

/// The value that waits, and the time from which the next one may pass.
@usableFromInline
@frozen
package struct ThrottleRule<Value: Sendable>: TimedRule {
  @usableFromInline let interval: Duration
  @usableFromInline let latest: Bool
  @usableFromInline var opening: Duration?
  @usableFromInline var held = PendingValue<Value>()

  @inlinable
  package init(interval: Duration, latest: Bool) {
    self.interval = interval.addable
    self.latest = latest
  }

  @inlinable package var deadline: Duration? { held.deadline }

  @inlinable
  package mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    guard case .next(let value) = event else { return held.received(event, at: now) }
    if let opening, now < opening {
      if latest { held.hold(value, until: opening) }
      return nil
    }
    held.drop()  // an older value, whose timer is late
    return pass(event, at: now)
  }

  @inlinable
  package mutating func wake(at now: Duration) -> Event<Value>? {
    held.takeDue(at: now).map { pass($0, at: now) }
  }

  @inlinable
  mutating func pass(_ event: Event<Value>, at now: Duration) -> Event<Value> {
    opening = now + interval
    return event
  }
}
