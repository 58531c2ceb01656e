import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ShareTests {
  let source = TestSource<Int>()
  let early = Recorder<Int>()
  let late = Recorder<Int>()

  @Test func `all listeners share one run, and nothing is repeated`() {
    let shared = source.signal.share()
    early.subscribe(to: shared)
    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)

    late.subscribe(to: shared)
    source.progress(SignalProgress(completed: 2, total: 2))
    source.next(2)
    source.completed()

    #expect(source.subscriptions == 1)
    #expect(
      early.transcript == ["progress 1/2", "next 1", "progress 2/2", "next 2", "completed"])
    #expect(late.transcript == ["progress 2/2", "next 2", "completed"])
  }

  @Test func `a failure reaches all`() {
    let shared = source.signal.share()
    early.subscribe(to: shared)
    late.subscribe(to: shared)

    source.failed(Trouble.some)

    #expect(early.transcript == ["failed some"])
    #expect(late.transcript == ["failed some"])
  }

  @Test func `a subscriber that leaves does not disturb the other, and the last one ends the run`()
  {
    let shared = source.signal.share()
    early.subscribe(to: shared)
    late.subscribe(to: shared)

    early.dispose()
    source.next(1)
    let before = source.disposals
    late.dispose()

    #expect(before == 0)
    #expect(source.disposals == 1)
    #expect(late.values == [1])
    #expect(early.events.isEmpty)
  }

  @Test func `a caller after the last one has left starts a new run`() {
    let shared = source.signal.share()
    early.subscribe(to: shared)
    early.dispose()

    late.subscribe(to: shared)
    source.next(1)

    #expect(source.subscriptions == 2)
    #expect(late.values == [1])
  }

  @Test func `a subscriber after the end starts a new run`() {
    let shared = source.signal.share()
    early.subscribe(to: shared)
    source.completed()

    late.subscribe(to: shared)

    #expect(source.subscriptions == 2)
    #expect(late.events.isEmpty)
  }

  @Test func `a subscriber that comes in the callback of the end starts a new run`() {
    let shared = source.signal.share()
    early.subscribe(to: shared) { [late] event in
      if event.isTerminal { late.subscribe(to: shared) }
    }

    source.completed()

    #expect(source.subscriptions == 2)
    #expect(late.events.isEmpty)
  }

  @Test func `a subscriber that comes in the callback of a value gets the values that follow`() {
    let shared = source.signal.share()
    early.subscribe(to: shared) { [late] event in
      if case .next(1) = event { late.subscribe(to: shared) }
    }

    source.next(1)
    source.next(2)

    #expect(source.subscriptions == 1)
    #expect(late.values == [2])
  }

  @Test func `a subscriber that comes while the end waits for its turn starts a new run`() {
    // The end has a source of its own, because one source would send it after the value.
    let end = TestSource<Int>()
    let (values, ends) = (source.signal, end.signal)
    let shared = Signal<Int> { observer, lifetime in
      values.run(observer, lifetime)
      ends.run(observer, lifetime)
    }.share()
    early.subscribe(to: shared) { [late] event in
      guard case .next(1) = event else { return }
      end.completed()
      late.subscribe(to: shared)
    }

    source.next(1)

    #expect(source.subscriptions == 2)
    #expect(early.transcript == ["next 1", "completed"])
    #expect(late.events.isEmpty)
  }

  @Test func `a subscriber that has left before it subscribes starts nothing`() {
    early.dispose()

    early.subscribe(to: source.signal.share())

    #expect(source.subscriptions == 0)
  }

  @Test func `a run that ends at once is run for each subscriber`() {
    let shared = Signal.of(1, 2).share()

    early.subscribe(to: shared)
    late.subscribe(to: shared)

    #expect(early.transcript == ["next 1", "next 2", "completed"])
    #expect(late.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `a run that fails after it was cancelled is ignored in the next`() {
    let sensitive = Signal<Int> { observer, lifetime in
      lifetime.onEnd { observer.failed(CancellationError()) }
    }
    let shared = sensitive.share()
    early.subscribe(to: shared)

    early.dispose()
    late.subscribe(to: shared)

    #expect(early.events.isEmpty)
    #expect(late.events.isEmpty)
  }

  @Test func `two first subscribers at once share one run`() async throws {
    for _ in 0..<200 {
      let source = TestSource<Int>()
      let shared = source.signal.share()
      let recorders = (0..<2).map { _ in Recorder<Int>() }

      try await race(2) { recorders[$0].subscribe(to: shared) }
      source.next(1)
      source.completed()

      #expect(source.subscriptions == 1)
      #expect(recorders.map(\.transcript) == Array(repeating: ["next 1", "completed"], count: 2))
    }
  }

  @Test func `subscribers that come and leave at once leave no run behind`() async throws {
    for _ in 0..<200 {
      let source = TestSource<Int>()
      let shared = source.signal.share()
      let recorders = (0..<3).map { _ in Recorder<Int>() }

      try await race(3) { index in
        recorders[index].subscribe(to: shared)
        recorders[index].dispose()
      }

      #expect(source.activeRuns == 0)
    }
  }

  @Test
  func `a subscriber that leaves under a lock does not deadlock with a callback that wants it`()
    async throws
  {
    let scene = HeldLock()
    let pipe = PublishSubject<Int>()
    let shared = pipe.signal.share()
    early.subscribe(to: shared) { _ in scene.callback() }
    late.subscribe(to: shared)

    try await scene.play(send: { pipe.next(1) }, meddle: { [late] in late.dispose() })

    #expect(early.values == [1])
  }
}
