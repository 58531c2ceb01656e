import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MapTests {
  let source = TestSource<Int>()
  let recorder = Recorder<String>()

  @Test func `values are changed, everything else passes`() {
    recorder.subscribe(to: source.signal.map { "<\($0)>" })

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["progress 1/2", "next <1>", "completed"])
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.map { "\($0)" })

    source.failed(Trouble.some)

    #expect(recorder.failure as? Trouble == .some)
  }

  @Test func `a settled value is changed, too`() {
    recorder.subscribe(to: Signal.just(1).map { "<\($0)>" })

    #expect(recorder.transcript == ["next <1>", "completed"])
  }
}
