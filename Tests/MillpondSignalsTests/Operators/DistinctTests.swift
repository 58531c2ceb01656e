import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DistinctTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `of equal values in a row the first passes, and everything else`() {
    recorder.subscribe(to: source.signal.distinct())

    source.next(1)
    source.progress(SignalProgress(completed: 1, total: 2))
    for value in [1, 2, 2, 1] { source.next(value) }
    source.completed()

    #expect(
      recorder.transcript == ["next 1", "progress 1/2", "next 2", "next 1", "completed"])
  }

  @Test func `a predicate is given the last value that was sent, and the new one`() {
    recorder.subscribe(to: Signal.of(1, 2, 3, 4).distinct { $1 - $0 < 2 })

    #expect(recorder.values == [1, 3])
  }

  @Test func `each run begins anew`() {
    let signal = Signal.just(1).distinct()

    signal.subscribe()
    recorder.subscribe(to: signal)

    #expect(recorder.values == [1])
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.distinct())

    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }
}
