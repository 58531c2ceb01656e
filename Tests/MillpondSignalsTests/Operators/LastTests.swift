import MillpondSignals
import MillpondTesting
import Testing

@Suite struct LastTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `the last value comes at the end`() {
    recorder.subscribe(to: source.signal.last())

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.next(2)
    source.completed()

    #expect(recorder.transcript == ["progress 1/2", "next 2", "completed"])
  }

  @Test func `values that are not wanted don't count`() {
    recorder.subscribe(to: Signal.of(1, 4, 2).last { $0 > 2 })

    #expect(recorder.transcript == ["next 4", "completed"])
  }

  @Test func `without a value it completes without one`() {
    recorder.subscribe(to: Signal.empty.last())

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a failure drops the value`() {
    recorder.subscribe(to: source.signal.last())

    source.next(1)
    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }
}
