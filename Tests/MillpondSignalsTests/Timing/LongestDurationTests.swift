import MillpondTesting
import Testing

@testable import MillpondSignals

/// The longest duration of all is a limit like any other.
@Suite struct LongestDurationTests {
  @Test func `operators with the longest duration of all do not end the process`() async {
    await #expect(processExitsWith: .success) {
      let (clock, longest) = (ManualClock(), Duration(attoseconds: .max))
      clock.advance(by: .seconds(1))
      let pipe = PublishSubject<Int>()
      let signal = pipe.signal
      signal.debounce(longest, clock: clock).subscribe()
      signal.delay(longest, clock: clock).subscribe()
      signal.throttle(longest, clock: clock).subscribe()
      signal.timeout(longest, clock: clock).subscribe()
      signal.timeout(longest, awaiting: .nextEvent, clock: clock).subscribe()
      signal.sample(every: longest, clock: clock).subscribe()
      Signal<Int>.interval(longest, clock: clock).subscribe()
      pipe.next(1)
      clock.advance(by: .seconds(1))
      pipe.next(2)
    }
  }

  @Test func `a hugely negative pause that a server names is none`() {
    struct Busy: RetryDelaying { var retryDelay: Duration? { Duration(attoseconds: .min) } }
    let policy = RetryPolicy.backoff(
      attempts: 3, from: .seconds(1), upTo: .seconds(9), jitter: 0)

    #expect(policy.delay(after: 1, failedWith: Busy()) == .seconds(1))
  }
}
