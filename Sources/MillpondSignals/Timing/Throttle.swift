extension Signal {
  /// Passes on at most one value in each `interval`, starting with the first.
  ///
  /// A completion sends the waiting value at once, and then passes; a failure drops it. Progress
  /// and failure pass at once.
  ///
  /// - Parameters:
  ///   - interval: The shortest time between two values; with zero or less, all pass.
  ///   - choice: The value to keep of those within an interval.
  ///   - clock: The clock that measures the time.
  /// - Complexity: At most one timer in each interval; none for ``ThrottleChoice/first``.
  @inlinable
  public func throttle(
    _ interval: Duration, _ choice: ThrottleChoice = .latest,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Scheduler(clock)) { _ in ThrottleRule(interval: interval, choice: choice) }
  }
}

/// The values to keep of those that arrive within an interval of `throttle`.
public enum ThrottleChoice: Sendable {
  /// The value that opened the interval; those after it are dropped.
  case first

  /// The value that opened the interval, and the newest of the others when the interval is over.
  case latest
}

/// The value that waits, and the time from which the next one may pass.
@usableFromInline
package struct ThrottleRule<Value: Sendable>: TimedRule {
  @usableFromInline let interval: Duration
  @usableFromInline let choice: ThrottleChoice
  @usableFromInline var opening: Duration?
  @usableFromInline var held = PendingValue<Value>()

  @inlinable
  package init(interval: Duration, choice: ThrottleChoice) {
    self.interval = interval.addable
    self.choice = choice
  }

  @inlinable package var deadline: Duration? { held.deadline }

  @inlinable
  package mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    guard case .next(let value) = event else { return held.received(event, at: now) }
    if let opening, now < opening {
      if choice == .latest { held.hold(value, until: opening) }
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
