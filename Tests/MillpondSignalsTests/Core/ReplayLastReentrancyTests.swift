import MillpondSignals
import MillpondTesting
import Testing

/// Subscribers that come, leave and send during a delivery, on one thread or several.
@Suite struct ReplayLastReentrancyTests {
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
  func `subscribers that leave when they receive a value are released, and no others`(
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

  @Test func `a replaced value may send and subscribe when it is released`() {
    let source = TestSource<Witness>()
    let shared = source.signal.replayLast()
    let seen = Locked(0)
    shared.subscribe(onNext: { _ in seen.withLock { $0 += 1 } })

    source.next(Witness { shared.subscribe(onNext: { _ in seen.withLock { $0 += 10 } }).dispose() })
    source.next(Witness {})

    #expect(seen.withLock { $0 } >= 2)
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
}
