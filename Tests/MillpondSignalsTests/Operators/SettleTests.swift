import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SettleTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Result<Int, any Error>>()

  @Test func `values are successes, and progress and completion pass`() {
    recorder.subscribe(to: source.signal.settle())

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.completed()

    #expect(recorder.transcript == ["progress 1/2", "next success(1)", "completed"])
  }

  @Test func `a failure is the last value, and then it completes`() {
    recorder.subscribe(to: source.signal.settle())

    source.next(1)
    source.failed(Trouble.some)

    #expect(recorder.values.count == 2)
    #expect(throws: Trouble.some) { try recorder.values.last?.get() }
    #expect(recorder.isCompleted)
  }

  @Test func `settled signals of different types are zipped whether or not they fail`() {
    let recorder = Recorder<String>()

    recorder.subscribe(
      to: zip(Signal.just(1).settle(), Signal<String>.fail(Trouble.some).settle()).map {
        "\((try? $0.get()) ?? 0) \((try? $1.get()) ?? "none")"
      })

    #expect(recorder.transcript == ["next 1 none", "completed"])
  }
}
