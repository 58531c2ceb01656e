import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RaceTests {
  let sources = (0..<3).map { _ in TestSource<Int>() }
  let recorder = Recorder<Int>()

  func subscribe() {
    recorder.subscribe(to: .race(sources.map(\.signal)))
  }

  @Test func `the first to send a value is passed on, the others are disposed of`() {
    subscribe()

    sources[1].next(1)
    sources[0].next(0)
    let disposals = sources.map(\.disposals)
    sources[1].progress(SignalProgress(completed: 1, total: 2))
    sources[1].completed()

    #expect(recorder.transcript == ["next 1", "progress 1/2", "completed"])
    #expect(disposals == [1, 0, 1])
  }

  @Test func `progress decides it, too`() {
    subscribe()

    sources[2].progress(SignalProgress(completed: 1, total: 2))

    #expect(recorder.transcript == ["progress 1/2"])
    #expect(sources.map(\.disposals) == [1, 1, 0])
  }

  @Test(arguments: [true, false])
  func `an end decides it, too`(fails: Bool) {
    subscribe()

    if fails { sources[0].failed(Trouble.some) } else { sources[0].completed() }

    #expect(recorder.transcript == [fails ? "failed some" : "completed"])
    #expect(sources.map(\.disposals) == [0, 1, 1])
  }

  @Test func `after one that sends at once none is started`() {
    recorder.subscribe(to: .race([.just(1), sources[0].signal]))

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(sources[0].subscriptions == 0)
  }

  @Test func `a race of no signals completes`() {
    recorder.subscribe(to: .race([]))

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `one that fails after it was cancelled does not matter`() {
    let sensitive = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    recorder.subscribe(to: .race([sensitive, sources[0].signal]))

    sources[0].next(1)
    sources[0].completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `one of several signals that send at once wins, and is delivered to its end`()
    async throws
  {
    for _ in 0..<200 {
      let pipes = (0..<3).map { _ in PublishSubject<Int>() }
      let recorder = Recorder<Int>()
      recorder.subscribe(to: .race(pipes.map(\.signal)))

      try await race(3) { index in
        pipes[index].next(index)
        pipes[index].next(index)
        pipes[index].completed()
      }
      try await recorder.ended()

      #expect(recorder.values.count == 2)
      #expect(Set(recorder.values).count == 1)
      #expect(recorder.violations.isEmpty)
    }
  }
}
