/// The multiples of an interval, counted from a beginning.
///
/// Exact for all times: a quotient of durations is a `Double`, which would repeat or skip a tick
/// after a long time, and may exceed an `Int`.
@usableFromInline
struct Ticks: Sendable {
  let interval: Duration
  let beginning: Duration

  /// - Parameter interval: Must be greater than zero.
  @usableFromInline
  init(_ interval: Duration, from beginning: Duration) {
    self.interval = interval.addable
    self.beginning = beginning
  }

  /// Returns the number of ticks up to `now`, which is not before the beginning.
  func count(at now: Duration) -> Int128 {
    (now - beginning).attoseconds / interval.attoseconds
  }

  /// Returns the time of the first tick after `now`.
  @usableFromInline
  func next(after now: Duration) -> Duration {
    beginning + Duration(attoseconds: (count(at: now) + 1) * interval.attoseconds)
  }
}
