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
  @usableFromInline var waiting: Value?
  @usableFromInline var isClosed = false
  @usableFromInline package var deadline: Duration?

  @inlinable
  package init(quiet: Duration) {
    self.quiet = quiet
  }

  @inlinable
  package mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    switch event {
    case .next(let value):
      waiting = value
      deadline = now + max(.zero, quiet)
      return nil
    case .completed where waiting != nil:
      isClosed = true
      deadline = now
      return nil
    default: return event
    }
  }

  @inlinable
  package mutating func wake(at now: Duration) -> Event<Value>? {
    guard let value = waiting else {
      deadline = nil
      return isClosed ? .completed : nil
    }
    waiting = nil
    deadline = isClosed ? now : nil
    return .next(value)
  }
}
