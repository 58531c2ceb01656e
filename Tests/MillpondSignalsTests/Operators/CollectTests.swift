import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CollectTests {
  let source = TestSource<Int>()
  let recorder = Recorder<[Int]>()

  @Test func `all values come as one array, in order, at the end`() {
    recorder.subscribe(to: source.signal.collect())

    source.progress(SignalProgress(completed: 1, total: 2))
    for value in 1...3 { source.next(value) }
    source.completed()

    #expect(recorder.transcript == ["progress 1/2", "next [1, 2, 3]", "completed"])
  }

  @Test func `without a value the array is empty`() {
    recorder.subscribe(to: Signal.empty.collect())

    #expect(recorder.transcript == ["next []", "completed"])
  }

  @Test func `a failure drops what was collected`() {
    recorder.subscribe(to: source.signal.collect())

    source.next(1)
    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }
}
