import MillpondCore

/// A point in the time of the calendar, as it is written to disk: what a restart leaves comparable.
struct WallTime: Sendable, Comparable, BitwiseCopyable {
  /// What counts as very old: the age of what is dated in the future, and the greatest there is.
  static let greatestAge = Duration.seconds(100 * 365 * 86_400)

  /// By how much a clock may be stepped back before what was stored earlier counts as from the future.
  static let tolerance = Duration.seconds(60)

  /// Since 1970.
  let microseconds: Int64

  init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  static var now: WallTime { WallTime(microseconds: POSIX.wallTime()) }

  /// When nothing happens any more.
  static let never = WallTime(microseconds: .max)

  /// The end of a time to live that began now; in the past if it is over at once.
  func after(_ timeToLive: TimeToLive) -> WallTime {
    guard case .after(let duration) = timeToLive else { return .never }
    let span = min(max(duration, .zero), Self.greatestAge).components
    if duration <= .zero { return WallTime(microseconds: .min) }
    let length = span.seconds * 1_000_000 + span.attoseconds / 1_000_000_000_000
    let (sum, overflow) = microseconds.addingReportingOverflow(length)
    return overflow ? .never : WallTime(microseconds: sum)
  }

  /// The point in time that lies `age` before this one.
  func before(by age: Duration) -> WallTime {
    let age = min(max(age, .zero), Self.greatestAge).components
    let span = age.seconds * 1_000_000 + age.attoseconds / 1_000_000_000_000
    let (difference, overflow) = microseconds.subtractingReportingOverflow(span)
    return WallTime(microseconds: overflow ? .min : difference)
  }

  /// How old at `now` is what is from this time; the clock may have been wrong at either.
  func age(at now: WallTime) -> Duration {
    let (difference, overflow) = now.microseconds.subtractingReportingOverflow(microseconds)
    if overflow || isAfter(now) { return Self.greatestAge }
    return min(.microseconds(max(0, difference)), Self.greatestAge)
  }

  /// Whether this is later than `now` by more than a small step of the clock explains.
  func isAfter(_ now: WallTime) -> Bool {
    self > now && before(by: Self.tolerance) >= now
  }

  static func < (left: WallTime, right: WallTime) -> Bool {
    left.microseconds < right.microseconds
  }
}
