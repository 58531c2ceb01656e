import MillpondSignals
import MillpondTesting
import Testing

/// Promises of this operator alone; the others are in `SwitchingRuleTests`.
@Suite struct SwitchToLatestTests {
  let outer = TestSource<Signal<Int>>()
  let first = TestSource<Int>()
  let second = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `the newest signal is sent, and the older one is disposed of`() {
    recorder.subscribe(to: outer.signal.switchToLatest())

    outer.next(first.signal)
    first.next(1)
    outer.next(second.signal)
    second.progress(SignalProgress(completed: 1, total: 2))
    second.next(2)

    #expect(recorder.transcript == ["next 1", "progress 1/2", "next 2"])
    #expect(first.disposals == 1)
  }

  @Test func `it completes when the newest and the outer one have`() {
    recorder.subscribe(to: outer.signal.switchToLatest())

    outer.next(first.signal)
    outer.completed()
    let wasEnded = recorder.end != nil
    first.completed()

    #expect(!wasEnded)
    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a failure ends everything`() {
    recorder.subscribe(to: outer.signal.switchToLatest())
    outer.next(first.signal)

    first.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(outer.disposals == 1)
  }

  @Test func `disposal reaches both`() {
    recorder.subscribe(to: outer.signal.switchToLatest())
    outer.next(first.signal)

    recorder.dispose()

    #expect(outer.disposals == 1)
    #expect(first.disposals == 1)
  }
}
