import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SkipTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `the first values are dropped, everything else passes`() {
    recorder.subscribe(to: source.signal.skip(2))

    source.next(1)
    source.progress(SignalProgress(completed: 1, total: 2))
    for value in 2...4 { source.next(value) }
    source.completed()

    #expect(recorder.transcript == ["progress 1/2", "next 3", "next 4", "completed"])
  }

  @Test(arguments: [0, -1])
  func `of none nothing is dropped`(count: Int) {
    recorder.subscribe(to: Signal.of(1, 2).skip(count))

    #expect(recorder.values == [1, 2])
  }

  @Test func `each run begins anew`() {
    let signal = Signal.of(1, 2, 3).skip(2)

    signal.subscribe()
    recorder.subscribe(to: signal)

    #expect(recorder.transcript == ["next 3", "completed"])
  }

  @Test func `fewer values than are skipped give none`() {
    recorder.subscribe(to: Signal.just(1).skip(2))

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.skip(2))

    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }
}
