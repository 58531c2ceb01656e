import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct TimeLimitedTests {
  let origin = TestOrigin<String, Int>()
  let clock = ManualClock()
  let recorder = Recorder<Int>()

  @Test func `a get that does not end in time fails, and its work is given up`() {
    recorder.subscribe(to: origin.timingOut(after: .seconds(5), clock: clock).get("a"))
    origin["a"].next(1)

    clock.advance(by: .seconds(5))

    let late = SignalError.timedOut(after: .seconds(5), key: "a")
    #expect(recorder.transcript == ["next 1", "failed \(late)"])
    #expect(origin["a"].disposals == 1)
  }

  @Test func `one that ends in time leaves no timer`() {
    recorder.subscribe(to: origin.timingOut(after: .seconds(5), clock: clock).get("a"))

    origin["a"].next(1)
    origin["a"].completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `only the first value may be awaited`() {
    recorder.subscribe(
      to: origin.timingOut(after: .seconds(5), awaiting: .firstValue, clock: clock).get("a"))
    origin["a"].next(1)

    clock.advance(by: .seconds(10))

    #expect(recorder.transcript == ["next 1"])
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `an immediate value is in time, however short the limit`(limit: Duration) {
    let base = TestCache<String, Int>()
    base.set(1, for: "a")

    recorder.subscribe(to: base.timingOut(after: limit, clock: clock).get("a"))

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `the slot of a get that times out comes free`() {
    let cache = origin.limited(to: 1).timingOut(after: .seconds(5), clock: clock)
    recorder.subscribe(to: cache.get("a"))

    clock.advance(by: .seconds(5))
    _ = Recorder<Int>().subscribe(to: cache.get("b"))

    #expect(origin["b"].subscriptions == 1)
  }
}
