import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RepeatedTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `the next run starts when one has completed, and the last completion passes`() {
    recorder.subscribe(to: source.signal.repeated(3))

    for number in 1...3 {
      #expect(source.subscriptions == number)
      source.next(number)
      source.completed()
    }

    #expect(recorder.transcript == ["next 1", "next 2", "next 3", "completed"])
    #expect(source.subscriptions == 3)
  }

  @Test(arguments: [0, -1, .min])
  func `less than one run is no run`(times: Int) {
    recorder.subscribe(to: source.signal.repeated(times))

    #expect(recorder.transcript == ["completed"])
    #expect(source.subscriptions == 0)
  }

  @Test func `a failure ends the repetition`() {
    recorder.subscribe(to: source.signal.repeated())
    source.completed()

    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(source.subscriptions == 2)
  }

  @Test func `each subscription repeats from the beginning`() {
    let signal = Signal.of(1).repeated(2)
    signal.subscribe()

    recorder.subscribe(to: signal)

    #expect(recorder.transcript == ["next 1", "next 1", "completed"])
  }

  @Test func `a repetition of a repetition multiplies`() {
    recorder.subscribe(to: Signal.of(1, 2).concat(.just(3)).repeated(2).repeated(2))

    #expect(recorder.values == [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3])
  }

  @Test func `a hundred thousand runs that end at once take little stack`() {
    let recorder = recorder

    LittleStack.run { recorder.subscribe(to: Signal.of(1).repeated(100_000)) }

    #expect(recorder.values.count == 100_000)
    #expect(recorder.isCompleted)
  }

  @Test func `a value that is ready, repeated for ever, stops when enough were taken`() {
    recorder.subscribe(to: Signal.just(1).repeated().take(3))

    #expect(recorder.transcript == ["next 1", "next 1", "next 1", "completed"])
  }

  @Test func `disposal reaches the running one, and no other is started`() {
    recorder.subscribe(to: source.signal.repeated())
    source.completed()

    recorder.dispose()
    source.completed()

    #expect(source.subscriptions == 2)
    #expect(source.disposals == 1)
  }

  @Test func `disposal between two runs starts no other`() {
    let runs = Journal<Int>()
    let signal = Signal<Int> { [recorder] observer, lifetime in
      runs.write(1)
      lifetime.onEnd { if runs.count == 3 { recorder.dispose() } }
      observer.completed()
    }

    recorder.subscribe(to: signal.repeated())

    #expect(runs.count == 3)
    #expect(recorder.events.isEmpty)
  }

  @Test func `an empty signal that is repeated for ever is ended from another thread`() async throws
  {
    let (runs, returns) = (Watched(0), Watched(false))
    let stop = PublishSubject<Int>()
    let empty = Signal<Int>.deferred {
      runs.change { $0 += 1 }
      return .empty
    }
    onThread { [recorder] in
      recorder.subscribe(to: empty.repeated().take(until: stop.signal))
      returns.change { $0 = true }
    }
    try await runs.wait(for: "a few runs") { $0 > 9 }

    stop.next(1)

    try await returns.wait(for: "the subscription") { $0 }
    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a poll with a pause runs again when the pause is over`() {
    let clock = ManualClock()
    let pause = Signal<Void>.timer(after: .seconds(30), clock: clock).ignoreValues(as: Int.self)
    recorder.subscribe(to: Signal.just(1).concat(pause).repeated())

    clock.advance(by: .seconds(29))
    let early = recorder.values.count
    clock.advance(by: .seconds(31))

    #expect(early == 1)
    #expect(recorder.values.count == 3)
    #expect(clock.pendingCount == 1)
    recorder.dispose()
  }
}
