import MillpondSignals
import MillpondTesting
import Testing

@Suite struct TestSourceTests {
  enum Trouble: Error { case some }

  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `nothing is sent before it is asked to`() {
    recorder.subscribe(to: source.signal)

    #expect(recorder.events.isEmpty)
    #expect(source.activeRuns == 1)
  }

  @Test func `events of the source reach all runs`() {
    let other = Recorder<Int>().subscribe(to: source.signal)
    recorder.subscribe(to: source.signal)

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.failed(Trouble.some)

    #expect(recorder.transcript == ["progress 1/2", "next 1", "failed some"])
    #expect(other.transcript == recorder.transcript)
  }

  @Test func `a run can be addressed by itself`() {
    let other = Recorder<Int>().subscribe(to: source.signal)
    recorder.subscribe(to: source.signal)

    source.runs[1].next(2)
    source.runs[1].completed()

    #expect(recorder.transcript == ["next 2", "completed"])
    #expect(other.events.isEmpty)
    #expect(source.activeRuns == 1)
  }

  @Test func `ended and disposed runs are distinguished`() {
    recorder.subscribe(to: source.signal)
    source.completed()
    let other = Recorder<Int>().subscribe(to: source.signal)
    other.dispose()

    #expect(source.subscriptions == 2)
    #expect(source.activeRuns == 0)
    #expect(source.disposals == 1)
    #expect(source.runs[1].isDisposed)
    #expect(!source.runs[0].isDisposed)
  }

  @Test func `an event after the end is dropped`() {
    recorder.subscribe(to: source.signal)
    source.completed()

    source.next(1)
    source.failed(Trouble.some)

    #expect(recorder.transcript == ["completed"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `one can wait for a subscription and for a disposal`() async throws {
    let task = Task { [source] in source.signal.subscribe() }
    try await source.subscriptions(count: 1)

    await task.value.dispose()

    try await source.disposals(count: 1)
  }

  @Test func `a source that is released with a run still active fails it`() {
    do {
      let source = TestSource<Int>()
      recorder.subscribe(to: source.signal)
      source.next(1)
    }

    #expect(recorder.values == [1])
    #expect(recorder.failure is SignalError)
  }
}
