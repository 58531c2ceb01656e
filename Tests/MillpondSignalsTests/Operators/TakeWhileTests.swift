import MillpondSignals
import MillpondTesting
import Testing

@Suite struct TakeWhileTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `the first value that does not satisfy completes it and stops the upstream`() {
    recorder.subscribe(to: source.signal.take(while: { $0 < 3 }))

    source.progress(SignalProgress(completed: 1, total: 2))
    for value in [1, 2, 3, 1] { source.next(value) }

    #expect(recorder.transcript == ["progress 1/2", "next 1", "next 2", "completed"])
    #expect(source.disposals == 1)
  }

  @Test func `the upstream is cancelled before the completion is passed on`() {
    let disposals = Journal<Int>()
    recorder.subscribe(to: source.signal.take(while: { _ in false })) { [source] event in
      if event.isTerminal { disposals.write(source.disposals) }
    }

    source.next(1)

    #expect(disposals.entries == [1])
  }

  @Test func `an upstream that ends earlier ends it`() {
    recorder.subscribe(to: source.signal.take(while: { _ in true }))

    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.take(while: { _ in true }))

    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }

  @Test func `an upstream that fails after it was cancelled hides no completion`() {
    let sensitive = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
      observer.next(1)
    }

    recorder.subscribe(to: sensitive.take(while: { _ in false }))

    #expect(recorder.transcript == ["completed"])
    #expect(recorder.violations.isEmpty)
  }
}
