extension Signal {
  /// Passes on a value when none has followed it for `quiet`.
  ///
  /// The value that waits when the signal completes is sent at once, before the completion; a
  /// failure drops it. Progress and failure pass at once.
  ///
  /// - Parameter quiet: Of zero or less: every value passes at once.
  /// - Complexity: One timer for a burst of values, not one each.
  @inlinable
  public func debounce(
    _ quiet: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Timeline(clock)) { _ in DebounceRule(quiet: quiet) }
  }
}

/// Which value waits, and until when.
@usableFromInline
package struct DebounceRule<Value: Sendable>: TimedRule {
  @usableFromInline let quiet: Duration
  @usableFromInline var held = HeldValue<Value>()

  @inlinable
  package init(quiet: Duration) {
    self.quiet = max(.zero, quiet)
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
