extension Signal {
  /// Passes on a value when no other has followed it for `quiet`.
  ///
  /// A completion sends the waiting value at once, and then passes; a failure drops it. Progress
  /// and failure pass at once.
  ///
  /// - Parameters:
  ///   - quiet: The time without values; with zero or less, every value passes at once.
  ///   - clock: The clock that measures the time.
  /// - Complexity: One timer for a burst of values, not one for each.
  @inlinable
  public func debounce(
    _ quiet: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Scheduler(clock)) { _ in DebounceRule(quiet: quiet) }
  }
}

/// The value that waits, and its deadline.
@usableFromInline
@frozen
package struct DebounceRule<Value: Sendable>: TimedRule {
  @usableFromInline let quiet: Duration
  @usableFromInline var held = PendingValue<Value>()

  @inlinable
  package init(quiet: Duration) {
    self.quiet = quiet.addable
  }

  @inlinable package var deadline: Duration? { held.deadline }

  @inlinable
  package mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    guard case .next(let value) = event else { return held.received(event, at: now) }
    held.hold(value, until: now + quiet)
    return nil
  }

  @inlinable
  package mutating func wake(at now: Duration) -> Event<Value>? {
    held.takeDue(at: now)
  }
}
