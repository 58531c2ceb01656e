import MillpondSignals

extension Signal where Value == MemoryPressure? {
  /// Tells of each rise of the level, and again after each `pause` while it isn't calm.
  ///
  /// One run is shared; who comes late is told of the level there is as of a rise.
  func alerts(repeatingEvery pause: Duration, _ timeline: Timeline) -> Signal<MemoryPressure> {
    replayLast().timed(on: timeline) { _ in PressureAlerts(pause: pause) }.compactMap { $0 }
  }
}

/// Which levels are worth telling of, and when again.
struct PressureAlerts: TimedRule {
  let pause: Duration
  private var level: MemoryPressure?
  private(set) var deadline: Duration?

  init(pause: Duration) {
    self.pause = max(pause, .milliseconds(1))
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
    // A fall that leaves some pressure doesn't put off the reminder of it.
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
