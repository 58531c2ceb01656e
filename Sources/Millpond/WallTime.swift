import MillpondCore

/// A time of the calendar, in the form that is written to disk, so that times compare across
/// restarts.
struct WallTime: Sendable, Comparable, BitwiseCopyable {
  /// The greatest age; a value with a date in the future counts as that old.
  static let greatestAge = Duration.seconds(100 * 365 * 86_400)

  /// The step back of a clock that is tolerated before earlier values count as from the future.
  static let tolerance = Duration.seconds(60)

  let microseconds: Int64

  init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  static var now: WallTime { WallTime(microseconds: CLibrary.wallTime()) }

  static let never = WallTime(microseconds: .max)

  /// Returns the end of a time to live that begins at this time; in the past if it ends at once.
  func after(_ timeToLive: TimeToLive) -> WallTime {
    guard case .after(let duration) = timeToLive else { return .never }
    if duration <= .zero { return WallTime(microseconds: .min) }
    let (sum, overflow) = microseconds.addingReportingOverflow(Self.microseconds(of: duration))
    return overflow ? .never : WallTime(microseconds: sum)
  }

  /// Returns the time that is `age` before this one.
  func before(by age: Duration) -> WallTime {
    let (difference, overflow) = microseconds.subtractingReportingOverflow(
      Self.microseconds(of: age))
    return WallTime(microseconds: overflow ? .min : difference)
  }

  /// Returns a duration in microseconds, clamped to between zero and the greatest age.
  private static func microseconds(of duration: Duration) -> Int64 {
    let span = min(max(duration, .zero), greatestAge).components
    return span.seconds * 1_000_000 + span.attoseconds / 1_000_000_000_000
  }

  /// Returns the age at `now`; the clock may have been wrong at either time.
  func age(at now: WallTime) -> Duration {
    let (difference, overflow) = now.microseconds.subtractingReportingOverflow(microseconds)
    if overflow || isAfter(now) { return Self.greatestAge }
    return min(.microseconds(max(0, difference)), Self.greatestAge)
  }

  /// Returns the time from `earlier` to this time; zero if this one is not later.
  func time(since earlier: WallTime) -> Duration {
    if self <= earlier { return .zero }
    let (difference, overflow) = microseconds.subtractingReportingOverflow(earlier.microseconds)
    return overflow ? Self.greatestAge : .microseconds(difference)
  }

  /// Whether this time is after `now` by more than the tolerated step of the clock.
  func isAfter(_ now: WallTime) -> Bool { self > now && before(by: Self.tolerance) >= now }

  static func < (left: WallTime, right: WallTime) -> Bool { left.microseconds < right.microseconds }
}
