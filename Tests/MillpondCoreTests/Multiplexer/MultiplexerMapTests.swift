import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MultiplexerMapTests {
  let clock = ManualClock()
  let origin = TestOrigin<Int, String>()

  private func map(
    countLimit: Int = 100, _ freshness: FreshnessPolicy = .ten(), scope: CacheScope? = nil
  ) -> MultiplexerMap<Int, String> {
    MultiplexerMap(
      over: origin, countLimit: countLimit, freshness: freshness, scope: scope, clock: clock)
  }

  private func answer(_ key: Int, _ value: String) {
    origin[key].next(value)
    origin[key].completed()
  }

  @Test func `keys are independent of each other`() {
    let users = map()
    let one = Recorder<String>().subscribe(to: users.get(1))
    let two = Recorder<String>().subscribe(to: users.get(2))

    origin[1].failed(Refused())
    answer(2, "two")
    users.remove(1)

    #expect(one.failure is Refused)
    #expect(two.values == ["two"])
    #expect(users.current(2) == "two")
  }

  @Test func `a multiplexer keeps no more values than its limit, however many keys are asked for`()
  {
    let users = MultiplexerMap<Int, Int>(over: Doubling(), countLimit: 100)

    for key in 0..<2_000 { users.get(key).subscribe() }

    let kept = (0..<2_000).filter { users.current($0) != nil }
    #expect(!kept.isEmpty)
    #expect(kept.count <= 100)
    #expect(kept.allSatisfy { users.current($0) == $0 * 2 })
  }

  @Test
  func `a get of many keys answers in their order, with duplicates and missing keys`()
    async throws
  {
    let calls = Locked<[[Int]]>([])
    let bulk = BulkSource<Int, String> { keys in
      calls.withLock { $0.append(keys) }
      return .just(
        Dictionary(uniqueKeysWithValues: keys.filter { $0 < 10 }.map { ($0, "\($0)") }))
    }
    let users = MultiplexerMap(
      over: bulk.batching(window: .seconds(1), max: 3, clock: clock), freshness: .ten(),
      clock: clock)
    users.set("kept", for: 3)

    let all = Recorder<[Result<String, any Error>]>()
      .subscribe(to: users.get(all: [1, 3, 99, 1, 2]))

    let answers = try #require(all.values.first)
    #expect(answers.map { try? $0.get() } == ["1", "kept", nil, "1", "2"])
    #expect(throws: CacheError.self) { try answers[2].get() }
    #expect(calls.withLock { $0 } == [[1, 99, 2]])
  }

  @Test func `stale values answer, each for its key, if a batched call fails with a listed error`()
    throws
  {
    let isOffline = Locked(false)
    let bulk = BulkSource<Int, String> { keys in
      isOffline.withLock { $0 }
        ? .fail(Offline())
        : .just(Dictionary(uniqueKeysWithValues: keys.map { ($0, "\($0)") }))
    }
    let users = MultiplexerMap(
      over: bulk.batching(window: .zero, max: 2, clock: clock), freshness: .ten(), clock: clock)
    _ = Recorder<[Result<String, any Error>]>().subscribe(to: users.get(all: [1, 2]))
    clock.advance(by: .seconds(11))
    isOffline.withLock { $0 = true }

    let all = Recorder<[Result<String, any Error>]>().subscribe(to: users.get(all: [3, 2]))

    let answers = try #require(all.values.first)
    #expect(answers.map { try? $0.get() } == [nil, "2"])
    #expect(throws: Offline.self) { try answers[0].get() }
  }

  @Test func `sign-out fails a hundred running gets, and the next user gets new values`()
    async throws
  {
    let session = CacheScope()
    let users = map(countLimit: 1_000, scope: session)
    let former = (0..<100).map { Recorder<String>().subscribe(to: users.get($0)) }
    let waiting = (0..<100).map { Recorder<String>().subscribe(to: users.refresh($0)) }

    _ = session.end() as Signal<Void>
    let next = (0..<100).map { Recorder<String>().subscribe(to: users.get($0)) }
    #expect(origin.activeRuns == 100)
    for key in 0..<100 { answer(key, "the next user's") }

    #expect((former + waiting).allSatisfy { $0.values.isEmpty && isScopeEnded($0.failure) })
    #expect(next.allSatisfy { $0.values == ["the next user's"] })
  }

  private func isScopeEnded(_ error: (any Error)?) -> Bool {
    if case CacheError.scopeEnded? = error { true } else { false }
  }

  @Test func `a leap of the clock leaves no value fresh`() {
    let users = map()
    users.set("one", for: 1)

    clock.advance(by: .seconds(1_000_000_000_000))
    _ = Recorder<String>().subscribe(to: users.get(1))

    #expect(origin[1].subscriptions == 1)
  }

  @Test func `when it is released, so is all that it kept`() {
    let probe = Probe()
    do {
      let users = MultiplexerMap<Int, Probe>(over: Probes(probe: probe))
      users.get(1).subscribe()
      users.refresh(1)
      users.states(of: 1).subscribe().dispose()
      #expect(users.current(1) === probe)
    }
    weak let released = probe
    _ = consume probe

    #expect(released == nil)
  }
}

private final class Probe: Sendable {}

private struct Probes: Source {
  weak let probe: Probe?

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Probe> {
    probe.map { .just($0) } ?? .empty
  }
}

private struct Doubling: Source {
  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    .just(key * 2)
  }
}
