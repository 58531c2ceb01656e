import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ReduceTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `all values become one at the end, progress passes before`() {
    recorder.subscribe(to: source.signal.reduce(10, +))

    source.next(1)
    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(2)
    let before = recorder.transcript
    source.completed()

    #expect(before == ["progress 1/2"])
    #expect(recorder.transcript == ["progress 1/2", "next 13", "completed"])
  }

  @Test func `without a value it is the initial one`() {
    recorder.subscribe(to: Signal.empty.reduce(10, +))

    #expect(recorder.transcript == ["next 10", "completed"])
  }

  @Test func `a failure drops what was joined`() {
    recorder.subscribe(to: source.signal.reduce(10, +))

    source.next(1)
    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `each run begins anew`() {
    let sum = Signal.of(1, 2, 3).reduce(0, +)

    sum.subscribe()
    recorder.subscribe(to: sum)

    #expect(recorder.values == [6])
  }
}
