import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct InFlightReuseTests {
  let origin = TestOrigin<String, Int>()
  let first = Recorder<Int>()
  let second = Recorder<Int>()

  struct Trouble: Error {}

  @Test func `a hundred gets of one key make one request, and each gets the answer`() {
    let cache = origin.reusingInFlight()
    let recorders = (0..<100).map { _ in Recorder<Int>().subscribe(to: cache.get("a")) }

    #expect(origin["a"].subscriptions == 1)
    origin["a"].next(1)
    origin["a"].completed()

    #expect(recorders.allSatisfy { $0.transcript == ["next 1", "completed"] })
  }

  @Test func `a subscriber that leaves a flight does not disturb the others`() {
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a"))
    second.subscribe(to: cache.get("a"))

    first.dispose()
    origin["a"].next(1)
    origin["a"].completed()

    #expect(first.transcript == [] && second.values == [1])
    #expect(origin["a"].disposals == 0)
  }

  @Test func `the last subscriber to leave cancels the flight, and the next get starts another`() {
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a"))
    second.subscribe(to: cache.get("a"))

    first.dispose()
    second.dispose()
    #expect(origin["a"].disposals == 1)

    let third = Recorder<Int>().subscribe(to: cache.get("a"))
    #expect(origin["a"].subscriptions == 2)
    origin["a"].next(1)
    #expect(third.values == [1])
  }

  /// A source whose key another process may change, under one table of flights or under two.
  @Test(arguments: [1, 2])
  func `no get joins a flight after a report that its key was changed`(tables: Int) {
    let source = ReportedSource(base: origin)
    let inner = source.reusingInFlight()
    let outer = inner.reusingInFlight()
    let get = { tables == 1 ? inner.get("a") : outer.get("a") }
    first.subscribe(to: get())
    let joined = Recorder<Int>().subscribe(to: get())
    #expect(origin["a"].subscriptions == 1)

    for act in source.acts.withLock({ $0 }) { act() }
    second.subscribe(to: get())
    let third = Recorder<Int>().subscribe(to: get())
    #expect(origin["a"].subscriptions == 2)
    origin["a"].next(1)
    origin["a"].completed()

    #expect([first, joined, second, third].allSatisfy { $0.values == [1] })
  }

  @Test func `a hundred gets that race to join make one request`() async {
    for _ in 0..<20 {
      let origin = TestOrigin<String, Int>()
      let cache = origin.reusingInFlight()
      DispatchQueue.concurrentPerform(iterations: 100) { _ in
        Recorder<Int>().subscribe(to: cache.get("a"))
      }
      #expect(origin["a"].subscriptions == 1)
    }
  }

  @Test func `racing joins and departures leave no run and no flight behind`() {
    let cache = origin.reusingInFlight()
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<500 { Recorder<Int>().subscribe(to: cache.get("a")).dispose() }
    }

    #expect(origin["a"].activeRuns == 0)
    let runs = origin["a"].subscriptions
    first.subscribe(to: cache.get("a"))
    #expect(origin["a"].subscriptions == runs + 1)
  }

  @Test func `an answer during the subscription leaves no flight behind`() {
    let cache = AnyCache<String, Int>(
      get: { _ in .of(1) }, set: { _, _ in .just(()) }, remove: { _ in .just(()) },
      removeAll: { .just(()) }
    ).layered(over: origin).reusingInFlight()

    first.subscribe(to: cache.get("a"))
    second.subscribe(to: cache.get("a"))

    #expect(first.transcript == ["next 1", "completed"])
    #expect(second.transcript == ["next 1", "completed"])
  }

  @Test func `a flight leaves the table before its failure is delivered`() {
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a")) { event in
      if event.isTerminal { second.subscribe(to: cache.get("a")) }
    }

    origin["a"].runs[0].failed(Trouble())

    #expect(first.failure is Trouble)
    #expect(origin["a"].subscriptions == 2)
    #expect(second.transcript == [])
  }

  @Test func `a failure and a miss are not remembered`() {
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a"))
    origin["a"].failed(Trouble())
    second.subscribe(to: cache.get("a"))
    origin["a"].completed()

    Recorder<Int>().subscribe(to: cache.get("a"))

    #expect(origin["a"].subscriptions == 3)
  }

  @Test func `a flight ignores events after its end`() {
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a"))

    origin["a"].runs[0].next(1)
    origin["a"].runs[0].completed()
    origin["a"].runs[0].next(2)
    origin["a"].runs[0].failed(Trouble())

    #expect(first.transcript == ["next 1", "completed"])
  }

  @Test func `a cache that is released during a flight still answers`() {
    var cache: InFlightReuse<TestOrigin<String, Int>>? = origin.reusingInFlight()
    if let signal = cache?.get("a") { first.subscribe(to: signal) }

    cache = nil
    origin["a"].next(1)
    origin["a"].completed()

    #expect(cache == nil)
    #expect(first.values == [1])
  }

  @Test func `different keys do not share`() {
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a"))
    second.subscribe(to: cache.get("b"))

    #expect(origin["a"].subscriptions == 1 && origin["b"].subscriptions == 1)
  }

  @Test func `a reload never joins, and what is asked otherwise does not join it`() {
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a"))

    second.subscribe(to: cache.get("a", freshness: .reload))
    #expect(origin["a"].subscriptions == 2)

    Recorder<Int>().subscribe(to: cache.get("a"))
    #expect(origin["a"].subscriptions == 2)
    Recorder<Int>().subscribe(to: cache.get("a", freshness: .reload))
    #expect(origin["a"].subscriptions == 3)
  }

  @Test func `an ask for what is cached starts no flight`() {
    let cache = origin.reusingInFlight()

    first.subscribe(to: cache.get("a", freshness: .cachedOnly))

    #expect(first.transcript == ["completed"])
    #expect(origin["a"].subscriptions == 0)
  }

  @Test func `progress reaches every joiner, late ones too`() {
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a"))
    origin["a"].progress(SignalProgress(completed: 1, total: 2))

    second.subscribe(to: cache.get("a"))

    #expect(first.transcript == ["progress 1/2"])
    #expect(second.transcript == ["progress 1/2"])
  }

  @Test func `a reload brings its progress, and then all its values`() {
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a", freshness: .reload))

    origin["a"].progress(SignalProgress(completed: 1, total: 2))
    origin["a"].next(1)
    origin["a"].completed()

    #expect(first.transcript == ["progress 1/2", "next 1", "completed"])
  }

  /// A source that records the lookups of its gets.
  struct Listening: Source {
    let origin: TestOrigin<String, Int>
    let lookups: PublishSubject<Lookup>

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
      lookups.next(lookup)
      return origin.get(key, lookup)
    }
  }

  @Test func `a re-ask between the miss above and the start below joins`() {
    let disk = TestOrigin<String, Int>()
    let cache = AnyCache(disk).layered(over: origin).reusingInFlight()
    first.subscribe(to: cache.get("a"))

    disk["a"].completed()
    second.subscribe(to: cache.get("a"))
    origin["a"].next(1)
    origin["a"].completed()

    #expect(disk["a"].subscriptions == 1 && origin["a"].subscriptions == 1)
    #expect(first.values == [1] && second.values == [1])
  }

  @Test func `a caller that leaves before its get starts nothing`() {
    let cache = origin.reusingInFlight()
    let lifetime = Lifetime()
    lifetime.end()

    cache.get("a").run(Observer(next: { _ in }, other: { _ in }), lifetime)

    #expect(origin["a"].subscriptions == 0)
  }

  struct Racing: Source {
    let sources: [AnyCache<String, Int>]

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
      .race(sources.map { $0.get(key, lookup) })
    }
  }

  /// A clock that calls the cache whose flights it times.
  struct AskingClock: Clock {
    let base = ContinuousClock()
    let ask = Locked<(@Sendable () -> Void)?>(nil)

    var now: ContinuousClock.Instant {
      ask.withLock { $0 }?()
      return base.now
    }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
      try await base.sleep(until: deadline, tolerance: tolerance)
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a clock may ask the cache whose flights it times`() {
    let clock = AskingClock()
    let cache = origin.reusingInFlight(clock: clock)
    let replayed = origin.replayed(in: MemoryCache(countLimit: 9), clock: clock)
    let depth = Locked(0)
    clock.ask.withLock {
      $0 = {
        guard
          depth.withLock({
            $0 += 1; return $0 == 1
          })
        else { return }
        cache.get("a").subscribe().dispose()
        replayed.get("a").subscribe().dispose()
        depth.withLock { $0 = 0 }
      }
    }

    first.subscribe(to: cache.get("a"))
    second.subscribe(to: replayed.get("a"))

    #expect(origin["a"].activeRuns == 2)
    clock.ask.withLock { $0 = nil }
  }

  @Test func `gets that a layer makes below are made for its caller, on every thread`() {
    // The upper layer misses on the thread of its own flight, and the lower one is asked.
    let upper = TestOrigin<String, Int>()
    let whole = Locked<AnyCache<String, Int>?>(nil)
    let lower = AnyCache<String, Int>(
      get: { key in key == "a" ? whole.withLock { $0 }?.get("a") ?? .empty : .empty },
      set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) })
    let cache = AnyCache(
      MemoryCache(countLimit: 1).layered(
        over: AnyCache(upper.reusingInFlight()).layered(over: lower)
      )
      .reusingInFlight())
    whole.withLock { $0 = cache }
    first.subscribe(to: cache.get("a"))

    upper["a"].completed()

    guard case CacheError.circular? = first.failure else {
      Issue.record("\(first.transcript)")
      return
    }
  }

  @Test func `a caller that leaves is released while the flight goes on for others`() {
    final class Screen: Sendable {}
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a"))
    weak var released: Screen?
    do {
      let screen = Screen()
      released = screen
      cache.get("a").subscribe(onNext: { _ in withExtendedLifetime(screen) {} }).dispose()
    }

    #expect(released == nil)
    #expect(origin["a"].activeRuns == 1)
  }

  @Test func `a key that does not equal itself is answered, and takes no other key's place`() {
    let source = TestSource<Int>()
    let cache = FunctionSource<Double, Int>.signal { [signal = source.signal] _ in signal }
      .reusingInFlight(maxFlights: 1)
    let recorders = [Double.nan, .nan, 1, 1].map { Recorder<Int>().subscribe(to: cache.get($0)) }
    #expect(source.subscriptions == 3)
    #expect(cache.flights.map(\.callers) == [2, 1, 1])

    source.next(7)
    source.completed()

    #expect(recorders.allSatisfy { $0.transcript == ["next 7", "completed"] })
    #expect(cache.flights.isEmpty)
  }

  @Test func `the run of an upper layer that missed is over when the lower one is asked`() {
    let ends = Locked(0)
    let upper = AnyCache<String, Int>(
      get: { _ in
        Signal { observer, lifetime in
          lifetime.onEnd { ends.withLock { $0 += 1 } }
          observer.completed()
        }
      }, set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) })

    first.subscribe(to: upper.layered(over: origin).get("a"))

    #expect(origin["a"].activeRuns == 1)
    #expect(ends.withLock { $0 } == 1)
  }
}

/// A source that reports changes of the keys that flights ask for.
private struct ReportedSource: Source {
  typealias Key = String
  typealias Value = Int

  let base: TestOrigin<String, Int>
  let acts = Locked<[@Sendable () -> Void]>([])

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    lookup.flight?.followChanges { act in
      acts.withLock { $0.append(act) }
      return Disposable {}
    }
    return base.get(key, lookup)
  }
}
