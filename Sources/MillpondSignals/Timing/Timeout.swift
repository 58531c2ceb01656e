extension Signal {
  /// Fails with ``SignalError/timedOut``, and stops the upstream, if an event is late.
  ///
  /// - Parameters:
  ///   - limit: The time limit; zero or less counts as one nanosecond.
  ///   - awaited: The event that has to arrive within the limit.
  ///   - clock: The clock that measures the time.
  /// - Complexity: One timer for a burst of events, not one for each; none if the signal has its
  ///   answer ready.
  @inlinable
  public func timeout(
    _ limit: Duration, awaiting awaited: TimeoutAwaited = .firstValue,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    guard start != nil else { return self }
    return timed(on: Scheduler(clock), now: now) {
      TimeoutRule(limit: limit, awaited: awaited, beginning: $0)
    }
  }
}

/// The event that has to arrive within the limit of a `timeout`.
public enum TimeoutAwaited: Sendable {
  /// The first value, or an earlier end. Progress does not count.
  case firstValue

  /// The first event, and after each event the next one, up to the end. Progress counts.
  case nextEvent

  /// The end, whatever events precede it.
  case end
}

/// The deadline of the awaited event.
@usableFromInline
package struct TimeoutRule<Value: Sendable>: TimedRule {
  @usableFromInline let limit: Duration
  @usableFromInline let awaited: TimeoutAwaited
  @usableFromInline package var deadline: Duration?

  @inlinable
  package init(limit: Duration, awaited: TimeoutAwaited, beginning: Duration) {
    // At least a nanosecond, so that an event inside the subscription can be in time.
    self.limit = max(.nanoseconds(1), limit)
    self.awaited = awaited
    deadline = beginning + self.limit
  }

  @inlinable
  package mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    switch (awaited, event) {
    case (.end, _), (.firstValue, .progress): break
    case (.firstValue, _): deadline = nil
    case (.nextEvent, _): deadline = now + limit
    }
    return event
  }

  @inlinable
  package mutating func wake(at now: Duration) -> Event<Value>? {
    deadline = nil
    return .failed(SignalError.timedOut)
  }
}
