import MillpondSignals

extension Signal where Value == MemoryPressure? {
  /// Sends each rise of the level, and repeats the level after each `pause` while there is
  /// pressure.
  ///
  /// All subscribers share one run; a late subscriber receives the present level as a rise.
  func alerts(repeatingEvery pause: Duration, _ scheduler: Scheduler) -> Signal<MemoryPressure> {
    replayLast().timed(on: scheduler) { _ in PressureAlerts(pause: pause) }.compactMap { $0 }
  }
}

/// The rule that selects the levels to send, and the time to repeat them.
struct PressureAlerts: TimedRule {
  let pause: Duration
  private var level: MemoryPressure?
  private(set) var deadline: Duration?

  init(pause: Duration) {
    self.pause = max(pause.addable, .milliseconds(1))
  }

  mutating func received(
    _ event: Event<MemoryPressure?>, at now: Duration
  ) -> Event<MemoryPressure?>? {
    guard case .next(let new) = event else {
      deadline = nil
      return event
    }
    let isRise = MemoryPressure.isWorse(new, than: level)
    level = new
    // A fall to a lower level does not delay the reminder.
    if new == nil { deadline = nil }
    guard isRise else { return nil }
    deadline = now + pause
    return event
  }

  mutating func wake(at now: Duration) -> Event<MemoryPressure?>? {
    deadline = now + pause
    return .next(level)
  }
}
