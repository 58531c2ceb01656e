import MillpondTesting
import Testing

@testable import Millpond

@Suite struct TimingOutTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  private func subscribe() {
    let limits = HTTPLimits(idleTimeout: .seconds(3), totalTimeout: .seconds(10))
    let timers = SharedTimers(Scheduler(clock))
    recorder.subscribe(
      to: source.signal.timingOut(Timeouts(limits, since: timers.now()), on: timers))
  }

  @Test func `each event is activity`() {
    subscribe()

    clock.advance(by: .seconds(2))
    source.next(1)
    clock.advance(by: .seconds(2))
    source.progress(.init(completed: 1))
    clock.advance(by: .seconds(2))

    #expect(recorder.end == nil)
    clock.advance(by: .seconds(1))
    #expect(recorder.failureInWords == "idle")
    #expect(source.disposals == 1)
  }

  @Test func `a slow subscriber is not a silent origin`() {
    let limits = HTTPLimits(idleTimeout: .seconds(3), totalTimeout: .seconds(10))
    let timers = SharedTimers(Scheduler(clock))
    let signal = source.signal.timingOut(Timeouts(limits, since: timers.now()), on: timers)
    recorder.subscribe(to: signal) { event in
      if case .next = event { clock.advance(by: .seconds(5)) }
    }

    source.next(1)

    #expect(recorder.end == nil)
    clock.advance(by: .seconds(3))
    #expect(recorder.failureInWords == "idle")
  }

  @Test func `activity does not put off the end of the whole`() {
    subscribe()

    for _ in 0..<9 {
      clock.advance(by: .seconds(1))
      source.next(1)
    }
    #expect(recorder.end == nil)
    clock.advance(by: .seconds(1))

    #expect(recorder.failureInWords == "total")
  }

  @Test func `no timer is left after disposal but the one that was set`() {
    subscribe()
    #expect(clock.pendingCount == 1)

    recorder.dispose()
    clock.advance(by: .seconds(3))

    #expect(clock.pendingCount == 0)
    #expect(source.disposals == 1)
  }

  @Test func `a late event is dropped`() {
    subscribe()
    let run = source.runs.first
    clock.advance(by: .seconds(3))

    run?.next(1)
    run?.completed()

    #expect(recorder.values.isEmpty)
    #expect(recorder.violations.isEmpty)
  }
}
