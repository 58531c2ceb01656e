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
