import MillpondSignals
import MillpondTesting
import Testing

@Suite struct FirstTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `the first value completes it and stops the upstream`() {
    recorder.subscribe(to: source.signal.first())

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.next(2)

    #expect(recorder.transcript == ["progress 1/2", "next 1", "completed"])
    #expect(source.disposals == 1)
  }

  @Test func `values that are not wanted are dropped`() {
    recorder.subscribe(to: source.signal.first { $0 > 2 })

    for value in 1...4 { source.next(value) }

    #expect(recorder.transcript == ["next 3", "completed"])
  }

  @Test func `for a count of zero it completes without a value`() {
    recorder.subscribe(to: Signal.of(1, 2).first { $0 > 2 })

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.first())

    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }
}
