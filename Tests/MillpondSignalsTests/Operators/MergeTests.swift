import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MergeTests {
  let first = TestSource<Int>()
  let second = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `all run at once, and it completes with the last of them`() {
    recorder.subscribe(to: first.signal.merge(second.signal))

    second.next(1)
    first.next(2)
    second.completed()
    first.next(3)
    first.completed()

    #expect(recorder.transcript == ["next 1", "next 2", "next 3", "completed"])
  }

  @Test func `a collection is merged`() {
    recorder.subscribe(to: .merge([.of(1, 2), .just(3), .empty]))

    #expect(recorder.transcript == ["next 1", "next 2", "next 3", "completed"])
  }

  @Test func `S17 of none it completes`() {
    recorder.subscribe(to: .merge([]))

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `progress is the sum`() {
    recorder.subscribe(to: first.signal.merge(second.signal))

    first.progress(SignalProgress(completed: 1, total: 10))
    second.progress(SignalProgress(completed: 2, total: 20))

    #expect(recorder.transcript == ["progress 1/?", "progress 3/30"])
  }

  @Test func `the first failure ends it and stops the others`() {
    recorder.subscribe(to: first.signal.merge(second.signal))

    first.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(second.disposals == 1)
  }

  @Test func `disposal reaches all`() {
    recorder.subscribe(to: first.signal.merge(second.signal))

    recorder.dispose()

    #expect(first.disposals == 1)
    #expect(second.disposals == 1)
  }
}
