import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CompactMapTests {
  let source = TestSource<String>()
  let recorder = Recorder<Int>()

  @Test func `values that become nil are dropped, all other events pass`() {
    recorder.subscribe(to: source.signal.compactMap { Int($0) })

    source.progress(SignalProgress(completed: 1))
    for text in ["1", "x", "2"] { source.next(text) }
    source.completed()

    #expect(recorder.transcript == ["progress 1/?", "next 1", "next 2", "completed"])
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.compactMap { Int($0) })

    source.failed(Trouble.some)

    #expect(recorder.failure as? Trouble == .some)
  }
}
