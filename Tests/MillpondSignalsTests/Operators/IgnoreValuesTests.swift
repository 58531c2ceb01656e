import MillpondSignals
import MillpondTesting
import Testing

@Suite struct IgnoreValuesTests {
  let source = TestSource<Int>()

  @Test func `only progress and the end pass`() {
    let recorder = Recorder<Never>().subscribe(to: source.signal.ignoreValues())

    source.next(1)
    source.progress(SignalProgress(completed: 1, total: 2))
    source.completed()

    #expect(recorder.transcript == ["progress 1/2", "completed"])
  }

  @Test func `a failure passes`() {
    let recorder = Recorder<Never>().subscribe(to: source.signal.ignoreValues())

    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `it goes before a signal of another type`() {
    let recorder = Recorder<String>()
    recorder.subscribe(to: source.signal.ignoreValues(as: String.self).concat(.just("done")))

    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["next done", "completed"])
  }
}
