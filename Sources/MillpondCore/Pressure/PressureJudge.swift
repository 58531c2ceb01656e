import MillpondSignals

/// What readings mean: how bad it is, given how bad it was.
struct PressureJudge: Sendable {
  let thresholds: PressureThresholds
  private(set) var level: MemoryPressure?
  private var hasSeen = false

  init(_ thresholds: PressureThresholds = PressureThresholds()) {
    self.thresholds = thresholds
  }

  /// The level now; without a reading, it is what it was.
  ///
  /// A level that was reached is kept until it is left clearly, by ``PressureThresholds/eased``.
  ///
  /// - Returns: False if there has never been a reading.
  mutating func received(_ readings: MemoryReadings) -> Bool {
    if readings.isEmpty { return hasSeen }
    hasSeen = true
    level = next(after: level, readings)
    return true
  }

  private func next(after old: MemoryPressure?, _ readings: MemoryReadings) -> MemoryPressure? {
    let reached = thresholds.level(of: readings)
    guard MemoryPressure.isWorse(old, than: reached) else { return reached }
    let kept = thresholds.eased.level(of: readings)
    return MemoryPressure.isWorse(kept, than: old) ? old : kept
  }
}

/// From where on memory is short.
///
/// - Source: shares of use: those at which `earlyoom` begins to ask processes to end, and to end
///   them. Stalls: the warning is systemd's default for asking a service to let caches go (200 ms in
///   each 2 s, `MemoryPressureThresholdSec`); critical means that for one second of the last ten
///   nobody could go on, a sixth of the share at which `systemd-oomd` ends a group.
struct PressureThresholds: Sendable, Equatable {
  /// Of 1.
  var warningUse = 0.90

  /// Of 1.
  var criticalUse = 0.95

  /// For how many per cent of the last ten seconds some task waited for memory.
  var warningStall = 10.0

  /// For how many per cent of the last ten seconds all tasks did.
  var criticalStall = 10.0

  /// What has to be fallen below for a level to be over, lest what hovers about a threshold
  /// rises at every look.
  var eased: PressureThresholds {
    PressureThresholds(
      warningUse: warningUse - 0.02, criticalUse: criticalUse - 0.02,
      warningStall: warningStall / 2, criticalStall: criticalStall / 2)
  }

  /// The worse of what the room and the stalls say; nil is calm.
  func level(of readings: MemoryReadings) -> MemoryPressure? {
    let use = readings.room?.usedShare ?? 0
    let some = readings.stall?.some ?? 0
    let full = readings.stall?.full ?? 0
    if use >= criticalUse || full >= criticalStall { return .critical }
    if use >= warningUse || some >= warningStall { return .warning }
    return nil
  }
}

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
