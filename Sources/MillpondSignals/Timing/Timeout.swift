extension Signal {
  /// Fails with ``SignalError/timedOut(after:key:)``, and stops the upstream, if an event is late.
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
    timeout(limit, awaiting: awaited, clock: clock, key: nil)
  }

  /// Fails with an error that names a key, if an event is late.
  @inlinable
  package func timeout(
    _ limit: Duration, awaiting awaited: TimeoutAwaited, clock: some Clock<Duration>,
    key: (@Sendable () -> String)?
  ) -> Signal {
    guard start != nil else { return self }
    return timed(on: Scheduler(clock), now: now) {
      TimeoutRule(limit: limit, awaited: awaited, beginning: $0, key: key)
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
@frozen
package struct TimeoutRule<Value: Sendable>: TimedRule {
  @usableFromInline let limit: Duration
  @usableFromInline let awaited: TimeoutAwaited
  @usableFromInline package var deadline: Duration?

  /// Returns the text of the key for the error; nil without a key.
  @usableFromInline let key: (@Sendable () -> String)?

  @inlinable
  package init(
    limit: Duration, awaited: TimeoutAwaited, beginning: Duration,
    key: (@Sendable () -> String)? = nil
  ) {
    // At least a nanosecond, so that an event inside the subscription can be in time.
    self.limit = max(.nanoseconds(1), limit.addable)
    self.awaited = awaited
    self.key = key
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
    return .failed(SignalError.timedOut(after: limit, key: key?()))
  }
}
