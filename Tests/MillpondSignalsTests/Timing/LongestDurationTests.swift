import MillpondTesting
import Testing

@testable import MillpondSignals

/// The longest duration of all is a limit like any other.
@Suite struct LongestDurationTests {
  @Test func `operators with any duration do not end the process, on any clock`() async {
    await #expect(processExitsWith: .success) {
      let durations = [
        Duration(attoseconds: .max), .seconds(Int64.max), .zero, .seconds(-1),
        .seconds(Int64.min), Duration(attoseconds: .min),
      ]
      let clock = ManualClock()
      clock.advance(by: .seconds(1))
      for duration in durations {
        Self.run(duration, clock)
        Self.run(duration, SchedulerTests.PlainClock(base: clock))
        Self.run(duration, ContinuousClock())
        Self.run(duration, SuspendingClock())
        clock.advance(by: .seconds(1))
      }
      // The tasks of timers begin to sleep.
      for _ in 0..<100 { await Task.yield() }
      clock.advance(by: .seconds(1))
    }
  }

  private static func run(_ duration: Duration, _ clock: some Clock<Duration>) {
    let pipe = PublishSubject<Int>()
    let signal = pipe.signal
    signal.debounce(duration, clock: clock).subscribe()
    signal.delay(duration, clock: clock).subscribe()
    signal.throttle(duration, clock: clock).subscribe()
    signal.timeout(duration, clock: clock).subscribe()
    signal.timeout(duration, awaiting: .nextEvent, clock: clock).subscribe()
    signal.sample(every: duration, clock: clock).subscribe()
    let policy = RetryPolicy.backoff(attempts: 2, from: duration, upTo: duration, jitter: 1)
    signal.flatMap { _ in Signal<Int>.fail(SignalError.empty) }.retry(policy, clock: clock)
      .subscribe()
    Signal<Int>.interval(duration, clock: clock).take(1).subscribe()
    Signal<Void>.timer(after: duration, clock: clock).subscribe()
    for number in 1...3 { pipe.next(number) }
    _ = duration.brief
  }

  @Test func `a hugely negative pause that a server names is none`() {
    struct Busy: RetryDelaying { var retryDelay: Duration? { Duration(attoseconds: .min) } }
    let policy = RetryPolicy.backoff(
      attempts: 3, from: .seconds(1), upTo: .seconds(9), jitter: 0)

    #expect(policy.delay(after: 1, failedWith: Busy()) == .seconds(1))
  }

  @Test func `minutes, hours and days of any number are durations`() {
    #expect(Duration.minutes(2) == .seconds(120))
    #expect(Duration.hours(2) == .seconds(7_200))
    #expect(Duration.days(-2) == .seconds(-172_800))
    #expect(Duration.days(Int.max) == .seconds(Int64.max))
    #expect(Duration.minutes(Int128.min) == .seconds(Int64.min))
  }
}
