import MillpondSignals
import MillpondTesting
import Testing

@Suite struct FilterTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `only what satisfies the predicate passes, and all other events`() {
    recorder.subscribe(to: source.signal.filter { $0.isMultiple(of: 2) })

    source.progress(SignalProgress(completed: 1))
    for value in 1...4 { source.next(value) }
    source.completed()

    #expect(recorder.transcript == ["progress 1/?", "next 2", "next 4", "completed"])
  }

  @Test func `a settled value is filtered`() {
    recorder.subscribe(to: Signal.just(1).filter { $0 > 1 })

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.filter { _ in false })

    source.failed(Trouble.some)

    #expect(recorder.failure as? Trouble == .some)
  }
}
