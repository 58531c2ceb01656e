import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DematerializeTests {
  let source = TestSource<Event<Int>>()
  let recorder = Recorder<Int>()

  @Test func `events that come as values are sent`() {
    recorder.subscribe(to: source.signal.dematerialize())

    source.next(.next(1))
    source.next(.progress(SignalProgress(completed: 1, total: 2)))
    source.progress(SignalProgress(completed: 3, total: 4))

    #expect(recorder.transcript == ["next 1", "progress 1/2", "progress 3/4"])
  }

  @Test(arguments: [true, false])
  func `a terminal event ends it, and cancels the upstream`(fails: Bool) {
    recorder.subscribe(to: source.signal.dematerialize())

    source.next(fails ? .failed(Trouble.some) : .completed)
    source.next(.next(1))

    #expect(recorder.transcript == [fails ? "failed some" : "completed"])
    #expect(source.disposals == 1)
  }

  @Test(arguments: [true, false])
  func `the upstream's own end passes`(fails: Bool) {
    recorder.subscribe(to: source.signal.dematerialize())

    if fails { source.failed(Trouble.some) } else { source.completed() }

    #expect(recorder.transcript == [fails ? "failed some" : "completed"])
  }

  @Test func `it undoes materialize`() {
    let signal = Signal.of(1, 2).concat(.fail(Trouble.some))

    recorder.subscribe(to: signal.materialize().dematerialize())

    #expect(recorder.transcript == ["next 1", "next 2", "failed some"])
    #expect(recorder.violations.isEmpty)
  }
}
