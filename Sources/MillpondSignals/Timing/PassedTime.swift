/// How much time has passed by the readings of a clock that may be set back.
///
/// A step back counts as no time: what has passed never becomes less, and goes on from there with the
/// next reading.
struct PassedTime: Sendable {
  /// By how much readings of different threads may come in another order than they were taken.
  private static let disorder = Duration.seconds(1)

  /// The time that has passed by the readings that `reading` takes.
  static func passed(by reading: @escaping @Sendable () -> Duration) -> @Sendable () -> Duration {
    let state = Locked(PassedTime())
    return {
      let reading = reading()
      return state.withLock { $0.pass(to: reading) }
    }
  }

  private var passed = Duration.zero

  /// The sum of all steps back.
  private var lost = Duration.zero

  /// The time that has passed by a reading, counted from the first one.
  mutating func pass(to reading: Duration) -> Duration {
    let next = reading + lost
    if next >= passed {
      passed = next
    } else if passed - next > Self.disorder {
      lost = passed - reading
    }
    return passed
  }
}
