import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MaterializeTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Event<Int>>()

  @Test func `values and the completion become values, progress passes`() {
    recorder.subscribe(to: source.signal.materialize())

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.completed()

    #expect(
      recorder.transcript == ["progress 1/2", "next next(1)", "next completed", "completed"])
  }

  @Test func `a failure becomes a value, and then it completes`() {
    recorder.subscribe(to: source.signal.materialize())

    source.failed(Trouble.some)

    #expect(recorder.values.count == 1)
    if case .failed(let error) = recorder.values.first {
      #expect(error as? Trouble == .some)
    } else {
      Issue.record("no failure among \(recorder.values)")
    }
    #expect(recorder.isCompleted)
  }
}
