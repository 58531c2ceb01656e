import MillpondSignals
import MillpondTesting
import Testing

@Suite struct StartWithTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `the value comes before everything else`() {
    recorder.subscribe(to: source.signal.startWith(0))

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["next 0", "progress 1/2", "next 1", "completed"])
  }

  @Test func `a subscriber that leaves in the callback of the first value starts nothing`() {
    recorder.subscribe(to: source.signal.startWith(0)) { [recorder] _ in recorder.dispose() }

    #expect(recorder.transcript == ["next 0"])
    #expect(source.subscriptions == 0)
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.startWith(0))

    source.failed(Trouble.some)

    #expect(recorder.transcript == ["next 0", "failed some"])
  }
}
