extension Signal {
  /// Passes on values and the completion later by `delay`, in order.
  ///
  /// Progress is not delayed. A failure is not delayed either, and drops the waiting events.
  ///
  /// - Parameters:
  ///   - delay: The delay; with zero or less, everything passes at once.
  ///   - clock: The clock that measures the time.
  /// - Complexity: One timer at a time. Buffers waiting values, without a bound.
  @inlinable
  public func delay(
    _ delay: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    timed(on: Scheduler(clock)) { _ in DelayRule(delay: delay) }
  }
}

/// The events that wait, the one due first in front.
@usableFromInline
package struct DelayRule<Value: Sendable>: TimedRule {
  @usableFromInline
  struct Waiting: Sendable {
    @usableFromInline let event: Event<Value>
    @usableFromInline let deadline: Duration

    @inlinable
    init(_ event: Event<Value>, until deadline: Duration) {
      self.event = event
      self.deadline = deadline
    }
  }

  @usableFromInline let delay: Duration
  @usableFromInline var first: Waiting?
  @usableFromInline var others = Queue<Waiting>()

  @inlinable
  package init(delay: Duration) {
    self.delay = max(.zero, delay).addable
  }

  @inlinable package var deadline: Duration? { first?.deadline }

  @inlinable
  package mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    switch event {
    case .progress, .failed: return event
    case .next, .completed:
      let waiting = Waiting(event, until: now + delay)
      if first == nil { first = waiting } else { others.append(waiting) }
      return nil
    }
  }

  @inlinable
  package mutating func wake(at now: Duration) -> Event<Value>? {
    let due = first
    first = others.popFirst()
    return due?.event
  }
}
