extension Signal {
  /// Fails with ``SignalError/timedOut`` if what is awaited doesn't come in time; the upstream is
  /// told to stop.
  ///
  /// - Parameters:
  ///   - limit: How long to wait; of zero or less, hardly longer than the subscription takes.
  ///   - awaited: What has to come within the limit.
  /// - Complexity: One timer for a burst of events, not one each; none where the signal has its
  ///   answer ready.
  @inlinable
  public func timeout(
    _ limit: Duration, awaiting awaited: TimeoutAwaited = .firstValue,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    guard start != nil else { return self }
    return timed(on: Timeline(clock), now: now) {
      TimeoutRule(limit: limit, awaited: awaited, beginning: $0)
    }
  }
}

/// What has to come within the limit of a `timeout`.
public enum TimeoutAwaited: Sendable {
  /// The first value, or the end if that is earlier. Progress is not enough.
  case firstValue

  /// The first event, and after each event the next one, up to the end. Progress is a sign of life.
  case nextEvent

  /// The end, whatever comes before.
  case end
}

/// Until when what is awaited has to come.
@usableFromInline
package struct TimeoutRule<Value: Sendable>: TimedRule {
  @usableFromInline let limit: Duration
  @usableFromInline let awaited: TimeoutAwaited
  @usableFromInline package var deadline: Duration?

  @inlinable
  package init(limit: Duration, awaited: TimeoutAwaited, beginning: Duration) {
    // More than none, so that what is sent inside the subscription is in time.
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
