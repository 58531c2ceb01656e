import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct HedgedTests {
  let origin = TestOrigin<String, Int>()
  let mirror = TestOrigin<String, Int>()
  let clock = ManualClock()
  let recorder = Recorder<Int>()

  struct Trouble: Error, Equatable {
    let name: String
  }

  private func ask(after delay: Duration = .seconds(1)) {
    recorder.subscribe(to: origin.hedged(with: mirror, after: delay, clock: clock).get("a"))
  }

  @Test func `the alternative is not asked while there is time, nor after an answer in time`() {
    ask()
    clock.advance(by: .milliseconds(999))
    #expect(mirror["a"].subscriptions == 0)

    origin["a"].next(1)
    origin["a"].completed()
    clock.advance(by: .seconds(1))

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(mirror["a"].subscriptions == 0 && clock.pendingCount == 0)
  }

  @Test func `it is asked after the delay, and the first value wins`() {
    ask()
    clock.advance(by: .seconds(1))

    mirror["a"].next(2)
    mirror["a"].completed()

    #expect(recorder.transcript == ["next 2", "completed"])
    #expect(origin["a"].disposals == 1)
  }

  @Test func `the slow one may still win, and the alternative is disposed of`() {
    ask()
    clock.advance(by: .seconds(1))

    origin["a"].next(1)
    #expect(mirror["a"].disposals == 1)
    origin["a"].completed()

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `a failure asks the alternative at once`() {
    ask()

    origin["a"].failed(Trouble(name: "origin"))
    #expect(mirror["a"].subscriptions == 1 && clock.pendingCount == 0)
    mirror["a"].next(2)
    mirror["a"].completed()

    #expect(recorder.transcript == ["next 2", "completed"])
    #expect(clock.pendingCount == 0)
  }

  @Test func `a miss in time is the answer`() {
    ask()

    origin["a"].completed()

    #expect(recorder.transcript == ["completed"])
    #expect(mirror["a"].subscriptions == 0 && clock.pendingCount == 0)
  }

  @Test func `when both fail the last failure passes`() {
    ask()
    clock.advance(by: .seconds(1))

    mirror["a"].failed(Trouble(name: "mirror"))
    #expect(recorder.transcript == [])
    origin["a"].failed(Trouble(name: "origin"))

    #expect(recorder.failure as? Trouble == Trouble(name: "origin"))
    #expect(mirror["a"].subscriptions == 1)
  }

  @Test func `a failure and a miss are a failure, two misses a miss`() {
    ask()
    origin["a"].failed(Trouble(name: "origin"))
    mirror["a"].completed()
    #expect(recorder.failure as? Trouble == Trouble(name: "origin"))

    let missing = Recorder<Int>().subscribe(
      to: origin.hedged(with: mirror, after: .seconds(1), clock: clock).get("b"))
    clock.advance(by: .seconds(1))
    origin["b"].completed()
    #expect(missing.transcript == [])
    mirror["b"].completed()
    #expect(missing.transcript == ["completed"])
  }

  @Test func `progress is that of the one that runs`() {
    ask()
    clock.advance(by: .seconds(1))

    mirror["a"].progress(SignalProgress(completed: 5, total: 6))
    origin["a"].progress(SignalProgress(completed: 1, total: 2))
    origin["a"].failed(Trouble(name: "origin"))
    mirror["a"].progress(SignalProgress(completed: 6, total: 6))

    #expect(recorder.transcript == ["progress 1/2", "progress 6/6"])
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `without a delay both are asked at once`(delay: Duration) {
    ask(after: delay)

    #expect(origin["a"].subscriptions == 1 && mirror["a"].subscriptions == 1)
    #expect(clock.pendingCount == 0)
  }

  @Test func `an immediate answer asks no other source`() {
    let base = TestCache<String, Int>()
    base.set(1, for: "a")

    recorder.subscribe(to: base.hedged(with: mirror, after: .zero, clock: clock).get("a"))

    #expect(recorder.values == [1])
    #expect(mirror["a"].subscriptions == 0)
  }

  @Test func `a caller that leaves gives up both, and the timer`() {
    ask()
    recorder.dispose()
    #expect(origin["a"].disposals == 1 && clock.pendingCount == 0)

    let late = Recorder<Int>().subscribe(
      to: origin.hedged(with: mirror, after: .seconds(1), clock: clock).get("b"))
    clock.advance(by: .seconds(1))
    late.dispose()
    #expect(origin["b"].disposals == 1 && mirror["b"].disposals == 1)
  }
}
