/// The thresholds of memory pressure.
///
/// - Source: Shares of use: those at which `earlyoom` begins to terminate and to kill processes.
///   Stalls: the warning is systemd's default for asking a service to release caches (200 ms in
///   each 2 s, `MemoryPressureThresholdSec`); critical means that all tasks were stalled for one
///   second of the last ten, a sixth of the share at which `systemd-oomd` kills a group.
struct PressureThresholds: Sendable, Equatable {
  /// The share of memory in use from which there is a warning; 1 is all.
  var warningUse = 0.90

  /// The share of memory in use from which the level is critical; 1 is all.
  var criticalUse = 0.95

  /// The percentage of stalls of some tasks from which there is a warning.
  var warningStall = 10.0

  /// The percentage of stalls of all tasks from which the level is critical.
  var criticalStall = 10.0

  /// The lower thresholds below which a level ends, so that readings close to a threshold do not
  /// raise the level again and again.
  var eased: PressureThresholds {
    PressureThresholds(
      warningUse: warningUse - 0.02, criticalUse: criticalUse - 0.02,
      warningStall: warningStall / 2, criticalStall: criticalStall / 2)
  }

  /// Returns the worse of the levels of use and stalls; nil for no pressure.
  func level(of readings: MemoryReadings) -> MemoryPressure? {
    let use = readings.room?.usedShare ?? 0
    let some = readings.stall?.some ?? 0
    let full = readings.stall?.full ?? 0
    if use >= criticalUse || full >= criticalStall { return .critical }
    if use >= warningUse || some >= warningStall { return .warning }
    return nil
  }
}

/// A detector of memory pressure: it turns readings into a level, given the level before.
struct PressureDetector: Sendable {
  private let thresholds = PressureThresholds()
  private(set) var level: MemoryPressure?
  private var hasSeen = false

  /// Updates the level; an empty reading leaves it as it was.
  ///
  /// A level stays until the readings fall below it clearly, by ``PressureThresholds/eased``.
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
