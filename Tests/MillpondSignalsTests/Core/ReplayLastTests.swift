import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ReplayLastTests {
  let source = TestSource<Int>()
  let early = Recorder<Int>()
  let late = Recorder<Int>()
  let shared: Signal<Int>
  let kept: Signal<Int>

  init() {
    shared = source.signal.replayLast()
    kept = source.signal.replayLast(.keepRunning)
  }

  @Test(arguments: [1, 2, 5])
  func `subscribers that leave when they receive a value are let go of, and nobody else`(
    count: Int
  ) {
    early.subscribe(to: shared)
    let released = Journal<Int>()
    for number in 0..<count {
      let witness = Witness { released.write(number) }
      shared.take(1).subscribe(onNext: { _ in withExtendedLifetime(witness) {} })
    }
    late.subscribe(to: shared)

    source.next(1)
    #expect(released.entries.sorted() == Array(0..<count))
    source.next(2)

    #expect(early.transcript == ["next 1", "next 2"])
    #expect(late.transcript == ["next 1", "next 2"])
  }

  @Test func `nothing runs before the first subscriber comes`() {
    #expect(source.subscriptions == 0)

    early.subscribe(to: shared)

    #expect(source.subscriptions == 1)
  }

  @Test func `all share one run`() {
    early.subscribe(to: shared)
    late.subscribe(to: shared)

    source.next(1)
    source.completed()

    #expect(source.subscriptions == 1)
    #expect(early.transcript == ["next 1", "completed"])
    #expect(late.transcript == ["next 1", "completed"])
  }

  @Test func `a late subscriber gets the latest progress and value, and then the rest`() {
    early.subscribe(to: shared)
    source.next(1)
    source.next(2)
    source.progress(SignalProgress(completed: 1, total: 4))
    source.progress(SignalProgress(completed: 2, total: 4))

    late.subscribe(to: shared)
    source.next(3)

    #expect(late.transcript == ["progress 2/4", "next 2", "next 3"])
  }

  @Test(arguments: [0, 1, 2, 5])
  func `a subscriber after the end gets the latest value and the end`(count: Int) {
    early.subscribe(to: shared)
    source.progress(SignalProgress(completed: 1))
    for value in 0..<count { source.next(value) }
    source.completed()

    late.subscribe(to: shared)

    #expect(late.transcript == (count == 0 ? [] : ["next \(count - 1)"]) + ["completed"])
    #expect(source.subscriptions == 1)
  }

  @Test func `a subscriber after a failure gets the latest value and the failure`() {
    early.subscribe(to: shared)
    source.next(1)
    source.failed(Trouble.some)

    late.subscribe(to: shared)

    #expect(late.transcript == ["next 1", "failed some"])
  }

  @Test func `a subscriber that leaves does not disturb the other`() {
    early.subscribe(to: shared)
    late.subscribe(to: shared)

    early.dispose()
    source.next(1)

    #expect(source.disposals == 0)
    #expect(early.events.isEmpty)
    #expect(late.values == [1])
  }

  @Test func `the last subscriber to leave disposes of the run`() {
    early.subscribe(to: shared)
    late.subscribe(to: shared)

    early.dispose()
    late.dispose()

    #expect(source.disposals == 1)
  }

  @Test func `after the last one has left, the next subscriber starts anew`() {
    early.subscribe(to: shared)
    source.next(1)
    early.dispose()

    late.subscribe(to: shared)
    source.next(2)

    #expect(source.subscriptions == 2)
    #expect(late.transcript == ["next 2"])
  }

  @Test func `a settled run is not disposed of when its subscribers leave`() {
    early.subscribe(to: shared)
    source.next(1)
    source.completed()
    early.dispose()

    late.subscribe(to: shared)

    #expect(source.disposals == 0)
    #expect(late.transcript == ["next 1", "completed"])
  }

  @Test func `with keepRunning the run goes on without subscribers`() {
    early.subscribe(to: kept)
    early.dispose()
    source.next(1)

    late.subscribe(to: kept)
    source.completed()

    #expect(source.subscriptions == 1)
    #expect(source.disposals == 0)
    #expect(late.transcript == ["next 1", "completed"])
  }

  @Test func `a synchronous upstream is shared, too`() {
    let runs = Locked(0)
    let shared = Signal.deferred {
      runs.withLock { $0 += 1 }
      return Signal.of(1, 2)
    }.replayLast()

    early.subscribe(to: shared)
    late.subscribe(to: shared)

    #expect(early.transcript == ["next 1", "next 2", "completed"])
    #expect(late.transcript == ["next 2", "completed"])
    #expect(runs.withLock { $0 } == 1)
  }

  @Test func `an operator below sees the settled value at once`() {
    let shared = Signal.of(1, 2).replayLast()
    early.subscribe(to: shared)

    late.subscribe(to: shared.map { $0 * 10 }.flatMap { .just($0 + 1) })

    #expect(late.transcript == ["next 21", "completed"])
  }

  @Test func `a subscriber that comes during a send gets each value once, in order`() {
    early.subscribe(to: shared) { [late, shared] event in
      if case .next(1) = event { late.subscribe(to: shared) }
    }

    source.next(1)
    source.next(2)

    #expect(early.values == [1, 2])
    #expect(late.values == [1, 2])
  }

  @Test func `a subscriber that comes while another thread sends misses no value`() async throws {
    for _ in 0..<100 {
      let source = TestSource<Int>()
      let shared = source.signal.replayLast()
      let early = Recorder<Int>().subscribe(to: shared)
      let late = (0..<2).map { _ in Recorder<Int>() }

      try await race(3) { index in
        if index < 2 { return _ = late[index].subscribe(to: shared) }
        for value in 0..<50 { source.next(value) }
        source.completed()
      }
      try await early.ended()

      #expect(early.values == Array(0..<50))
      for recorder in late {
        try await recorder.ended()
        let first = recorder.values.first ?? 50
        #expect(recorder.values == Array(first..<50))
        #expect(recorder.violations.isEmpty)
      }
    }
  }

  @Test func `two first subscribers at once share one run`() async throws {
    for _ in 0..<300 {
      let source = TestSource<Int>()
      let shared = source.signal.replayLast()

      try await race(2) { _ in shared.subscribe() }

      #expect(source.subscriptions == 1)
      #expect(source.activeRuns == 1)
    }
  }

  @Test func `a subscriber that races one that leaves is always served`() async throws {
    for _ in 0..<300 {
      let source = TestSource<Int>()
      let shared = source.signal.replayLast()
      let early = Recorder<Int>().subscribe(to: shared)
      let late = Recorder<Int>()

      try await race(2) { index in
        if index == 0 { early.dispose() } else { late.subscribe(to: shared) }
      }

      #expect(source.activeRuns == 1)
      source.next(1)
      #expect(late.values == [1])
      late.dispose()
      #expect(source.activeRuns == 0)
    }
  }

  @Test func `the only subscriber may leave and come back in its callback`() {
    let second = late
    early.subscribe(to: shared) { [early, shared] event in
      guard case .next(1) = event else { return }
      early.dispose()
      second.subscribe(to: shared)
    }

    source.next(1)
    source.next(2)

    #expect(early.values == [1])
    #expect(second.values == [2])
    #expect(source.subscriptions == 2)
    #expect(source.activeRuns == 1)
  }

  @Test func `a subscriber that another's callback disposes of gets nothing more`() {
    early.subscribe(to: shared) { [late] _ in late.dispose() }
    late.subscribe(to: shared)

    source.next(1)

    #expect(late.events.isEmpty)
  }

  @Test func `a value sent from a callback comes after the present one for all subscribers`() {
    early.subscribe(to: shared) { [source] event in
      if case .next(1) = event { source.next(2) }
    }
    late.subscribe(to: shared)

    source.next(1)

    #expect(early.values == [1, 2])
    #expect(late.values == [1, 2])
  }

  @Test func `a subscriber whose lifetime has ended leaves no run behind`() {
    let lifetime = Lifetime()
    lifetime.end()

    shared.run(Observer(next: { _ in }, other: { _ in }), lifetime)

    #expect(source.activeRuns == 0)
    late.subscribe(to: shared)
    source.next(1)
    #expect(late.values == [1])
  }

  @Test func `a cancelled run that then fails does not settle the replay`() {
    let observers = Journal<Observer<Int>>()
    let shared = Signal<Int> { observer, lifetime in
      observers.write(observer)
      lifetime.onEnd { observer.failed(CancellationError()) }
    }.replayLast()
    early.subscribe(to: shared)
    early.dispose()

    late.subscribe(to: shared)
    observers.entries.last?.next(1)

    #expect(observers.count == 2)
    #expect(late.transcript == ["next 1"])
  }

  @Test func `what a cancelled run still sends reaches nobody`() {
    let observers = Journal<Observer<Int>>()
    let shared = Signal<Int> { observer, _ in observers.write(observer) }.replayLast()
    early.subscribe(to: shared)
    early.dispose()
    late.subscribe(to: shared)

    observers.entries[0].next(1)
    observers.entries[0].completed()
    observers.entries[1].next(2)

    #expect(late.transcript == ["next 2"])
  }

  @Test func `the value that is replaced is released`() {
    let released = Journal<Int>()
    let source = TestSource<Witness>()
    source.signal.replayLast().subscribe()

    for number in 0..<3 { source.next(Witness { released.write(number) }) }

    #expect(released.entries == [0, 1])
  }

  @Test func `a replaced value may send and subscribe when it is released`() {
    let source = TestSource<Witness>()
    let shared = source.signal.replayLast()
    let seen = Locked(0)
    shared.subscribe(onNext: { _ in seen.withLock { $0 += 1 } })

    source.next(Witness { shared.subscribe(onNext: { _ in seen.withLock { $0 += 10 } }).dispose() })
    source.next(Witness {})

    #expect(seen.withLock { $0 } >= 2)
  }

  @Test func `progress that waits is conflated`() {
    early.subscribe(to: shared) { [source] event in
      guard case .next = event else { return }
      for step in 1...3 { source.progress(SignalProgress(completed: step)) }
    }

    source.next(1)

    #expect(early.progress.last == SignalProgress(completed: 3))
    #expect(early.progress.count == 1)
  }

  @Test
  func `a subscriber that comes under a lock does not deadlock with a callback that wants it`()
    async throws
  {
    let scene = HeldLock()
    early.subscribe(to: shared) { event in
      if case .next(1) = event { scene.callback() }
    }

    try await scene.play(
      send: { [source] in source.next(1) },
      meddle: { [source, late, shared] in
        late.subscribe(to: shared)
        source.next(2)
      })

    #expect(early.values == [1, 2])
    #expect(late.values == [1, 2])
    #expect(early.violations.isEmpty)
  }

  @Test func `a hundred thousand leave a run that goes on`() {
    let pipe = PublishSubject<Int>()
    let shared = pipe.signal.replayLast()
    let handles = (0..<100_000).map { _ in shared.subscribe() }
    let recorder = Recorder<Int>().subscribe(to: shared)

    for handle in handles { handle.dispose() }
    pipe.next(1)

    #expect(recorder.values == [1])
  }

  @Test func `a replay without references is released with its value`() {
    let released = Journal<Int>()
    do {
      let source = TestSource<Witness>()
      let shared = source.signal.replayLast()
      shared.subscribe()
      source.next(Witness { released.write(1) })
      source.completed()
      #expect(released.entries.isEmpty)
    }

    #expect(released.entries == [1])
  }
}
