import MillpondCore

/// A point in the time of the calendar, as it is written to disk: what a restart leaves comparable.
struct WallTime: Sendable, Comparable, BitwiseCopyable {
  /// The greatest age; what is dated in the future counts as that old.
  static let greatestAge = Duration.seconds(100 * 365 * 86_400)

  /// The step back of a clock that is tolerated before earlier values count as from the future.
  static let tolerance = Duration.seconds(60)

  let microseconds: Int64

  init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  static var now: WallTime { WallTime(microseconds: POSIX.wallTime()) }

  static let never = WallTime(microseconds: .max)

  /// The end of a time to live that began now; in the past if it is over at once.
  func after(_ timeToLive: TimeToLive) -> WallTime {
    guard case .after(let duration) = timeToLive else { return .never }
    if duration <= .zero { return WallTime(microseconds: .min) }
    let (sum, overflow) = microseconds.addingReportingOverflow(Self.microseconds(of: duration))
    return overflow ? .never : WallTime(microseconds: sum)
  }

  /// The point in time that lies `age` before this one.
  func before(by age: Duration) -> WallTime {
    let (difference, overflow) = microseconds.subtractingReportingOverflow(
      Self.microseconds(of: age))
    return WallTime(microseconds: overflow ? .min : difference)
  }

  /// The length of a time from zero to the greatest age.
  private static func microseconds(of duration: Duration) -> Int64 {
    let span = min(max(duration, .zero), greatestAge).components
    return span.seconds * 1_000_000 + span.attoseconds / 1_000_000_000_000
  }

  /// The age at `now`; the clock may have been wrong at either time.
  func age(at now: WallTime) -> Duration {
    let (difference, overflow) = now.microseconds.subtractingReportingOverflow(microseconds)
    if overflow || isAfter(now) { return Self.greatestAge }
    return min(.microseconds(max(0, difference)), Self.greatestAge)
  }

  /// Whether this is later than `now` by more than a small step of the clock explains.
  func isAfter(_ now: WallTime) -> Bool { self > now && before(by: Self.tolerance) >= now }

  static func < (left: WallTime, right: WallTime) -> Bool { left.microseconds < right.microseconds }
}
