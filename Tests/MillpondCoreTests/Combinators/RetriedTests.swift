import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RetriedTests {
  let origin = TestOrigin<String, Int>()
  let clock = ManualClock()
  let recorder = Recorder<Int>()

  struct Trouble: Error {}

  @Test func `a get that fails is asked again, and the answer of a later one passes`() {
    recorder.subscribe(to: origin.retrying(.immediate(attempts: 3)).get("a"))

    origin["a"].runs[0].failed(Trouble())
    origin["a"].runs[1].next(1)
    origin["a"].runs[1].completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(origin["a"].subscriptions == 2)
  }

  @Test func `the last failure passes`() {
    recorder.subscribe(to: origin.retrying(.immediate(attempts: 2)).get("a"))

    origin["a"].runs[0].failed(SignalError.empty)
    origin["a"].runs[1].failed(Trouble())

    #expect(recorder.failure is Trouble)
  }

  @Test func `a miss is not asked again`() {
    recorder.subscribe(to: origin.retrying(.immediate(attempts: 3)).get("a"))

    origin["a"].completed()

    #expect(recorder.transcript == ["completed"])
    #expect(origin["a"].subscriptions == 1)
  }

  @Test func `over a limit a get that pauses holds no slot, under it it does`() async throws {
    let policy = RetryPolicy.backoff(attempts: 2, from: .seconds(1), upTo: .seconds(1))
    let over = origin.limited(to: 1).retrying(policy, clock: clock)
    recorder.subscribe(to: over.get("a"))
    let next = Recorder<Int>().subscribe(to: over.get("b"))
    origin["a"].failed(Trouble())
    #expect(origin["b"].subscriptions == 1)
    recorder.dispose()
    next.dispose()

    let under = origin.retrying(policy, clock: clock).limited(to: 1)
    let first = Recorder<Int>().subscribe(to: under.get("c"))
    _ = Recorder<Int>().subscribe(to: under.get("d"))
    origin["c"].failed(Trouble())
    #expect(origin["d"].subscriptions == 0)
    first.dispose()
    try await origin["d"].subscriptions(count: 1)
    #expect(clock.pendingCount == 0)
  }
}
