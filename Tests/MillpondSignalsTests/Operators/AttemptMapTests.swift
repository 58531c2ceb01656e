import MillpondSignals
import MillpondTesting
import Testing

@Suite struct AttemptMapTests {
  let source = TestSource<Int>()
  let recorder = Recorder<String>()

  func subscribe() {
    recorder.subscribe(
      to: source.signal.attemptMap {
        if $0 < 0 { throw Trouble.some }
        return "<\($0)>"
      })
  }

  @Test func `values are changed, everything else passes`() {
    subscribe()

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["progress 1/2", "next <1>", "completed"])
  }

  @Test func `an error that the closure throws fails the signal and stops the upstream`() {
    subscribe()

    source.next(1)
    source.next(-1)
    source.next(2)

    #expect(recorder.transcript == ["next <1>", "failed some"])
    #expect(source.disposals == 1)
  }

  @Test func `a failure passes`() {
    subscribe()

    source.failed(Trouble.other)

    #expect(recorder.transcript == ["failed other"])
  }

  @Test func `the first of a thousand synchronous values that throws stops the rest`() {
    let sent = Locked(0)
    let signal = Signal.from(0..<1_000).onNext { _ in sent.withLock { $0 += 1 } }

    recorder.subscribe(to: signal.attemptMap { _ in throw Trouble.some })

    #expect(recorder.transcript == ["failed some"])
    #expect(sent.withLock { $0 } == 1)
  }

  @Test func `an upstream that fails after it was cancelled hides no failure`() {
    let sensitive = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
      observer.next(1)
    }

    recorder.subscribe(to: sensitive.attemptMap { _ in throw Trouble.some })

    #expect(recorder.transcript == ["failed some"])
    #expect(recorder.violations.isEmpty)
  }
}
