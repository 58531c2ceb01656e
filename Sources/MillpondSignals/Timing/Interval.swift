extension Signal where Value == Int {
  /// Sends the number of each tick of `interval`, from 0, until the subscriber leaves.
  ///
  ///     let polled = Signal.interval(.seconds(30)).flatMap(.latest) { _ in poll() }
  ///
  /// Ticks are counted from the subscription, the first is one interval later. They do not drift:
  /// tick *n* is due at *n* + 1 intervals, however late those before it were. Ticks that pass while
  /// the subscriber is busy or the device sleeps are skipped: one value follows, the number of the
  /// latest tick. So a slow subscriber never gets a burst, and a gap in the numbers counts the
  /// skipped ticks.
  ///
  /// - Parameters:
  ///   - interval: The time between ticks; with less than a nanosecond there are none, and the
  ///     signal completes at once.
  ///   - clock: The clock that measures the time.
  /// - Note: Values arrive on the clock's thread.
  /// - Complexity: One timer at a time.
  public static func interval(
    _ interval: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    guard interval >= .nanoseconds(1) else { return .empty }
    return Signal.never.timed(on: Scheduler(clock)) { beginning in
      IntervalRule(Ticks(interval, from: beginning))
    }
  }
}

/// The next tick.
struct IntervalRule: TimedRule {
  private let ticks: Ticks
  private var next: Duration

  init(_ ticks: Ticks) {
    self.ticks = ticks
    next = ticks.next(after: ticks.beginning)
  }

  var deadline: Duration? { next }

  mutating func received(_ event: Event<Int>, at now: Duration) -> Event<Int>? {
    event
  }

  mutating func wake(at now: Duration) -> Event<Int>? {
    next = ticks.next(after: now)
    return .next(Int(clamping: ticks.count(at: now) - 1))
  }
}
