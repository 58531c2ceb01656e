import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SampleTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  init() {
    recorder.subscribe(to: source.signal.sample(every: .seconds(1), clock: clock))
  }

  @Test func `the newest value passes at the tick, counted from the subscription`() {
    clock.advance(by: .milliseconds(700))
    source.next(1)
    source.next(2)
    let early = recorder.values

    clock.advance(by: .milliseconds(300))

    #expect(early.isEmpty)
    #expect(recorder.values == [2])
  }

  @Test func `a value is sampled once`() {
    source.next(1)

    clock.advance(by: .seconds(5))

    #expect(recorder.values == [1])
  }

  @Test func `a value that comes at a tick waits for the next one`() {
    clock.advance(by: .seconds(3))
    source.next(1)
    let atTick = recorder.values

    clock.advance(by: .seconds(1))

    #expect(atTick.isEmpty)
    #expect(recorder.values == [1])
  }

  @Test func `there is no timer while no value waits`() {
    let before = clock.pendingCount
    source.next(1)
    clock.advance(by: .seconds(1))

    #expect(before == 0)
    #expect(clock.pendingCount == 0)
  }

  @Test func `the value that waits is sent before the completion`() {
    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `a failure drops what waits, progress passes at once`() {
    source.next(1)
    source.progress(SignalProgress(completed: 1))
    source.failed(Trouble.some)

    #expect(recorder.transcript == ["progress 1/?", "failed some"])
  }

  @Test func `after disposal no timer is left`() {
    source.next(1)

    recorder.dispose()

    #expect(clock.pendingCount == 0)
    #expect(source.disposals == 1)
  }

  @Test(arguments: [
    Duration.zero, .seconds(-1), Duration(secondsComponent: 0, attosecondsComponent: 1),
  ])
  func `without an interval all values pass`(interval: Duration) {
    let other = Recorder<Int>()
    other.subscribe(to: Signal.of(1, 2).sample(every: interval, clock: clock))

    #expect(other.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `the next tick after the longest time is exact`() {
    let longest = Duration.seconds(Int64.max / 2)
    let rule = SampleRule<Int>(interval: .nanoseconds(3), beginning: .zero)

    // The longest time is a multiple of three nanoseconds.
    #expect(rule.tick(after: longest) == longest + .nanoseconds(3))
  }

  @Test(arguments: [(0, 300), (299, 300), (300, 600), (301, 600), (2_999_999, 3_000_000)])
  func `the next tick is later than now, by at most the interval`(now: Int, tick: Int) {
    let rule = SampleRule<Int>(interval: .milliseconds(300), beginning: .seconds(7))

    let next = rule.tick(after: .seconds(7) + .milliseconds(now))

    #expect(next == .seconds(7) + .milliseconds(tick))
  }
}
