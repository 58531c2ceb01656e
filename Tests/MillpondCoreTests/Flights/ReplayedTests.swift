import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ReplayedTests {
  let clock = ManualClock()
  let origin = TestOrigin<String, Int>()
  let memory = MemoryCache<String, Int>(countLimit: 2)
  let caller = Recorder<Int>()

  struct Trouble: Error {}

  @Test func `all callers share one run, and later ones find the value`() {
    let cache = origin.replayed(in: memory)
    let callers = (0..<100).map { _ in Recorder<Int>().subscribe(to: cache.get("a")) }

    origin["a"].next(1)
    caller.subscribe(to: cache.get("a"))
    origin["a"].completed()

    #expect(callers.allSatisfy { $0.transcript == ["next 1", "completed"] })
    #expect(caller.transcript == ["next 1", "completed"])
    #expect(origin["a"].subscriptions == 1)
  }

  @Test func `a value is there from the moment in which it is delivered`() {
    let cache = origin.replayed(in: memory)
    let inside = Recorder<Int>()
    cache.get("a").subscribe(onNext: { _ in
      inside.subscribe(to: cache.get("a", freshness: .cachedOnly))
    })

    origin["a"].next(1)

    #expect(inside.values == [1])
  }

  @Test(arguments: [true, false])
  func `a failure or a miss is not remembered`(fails: Bool) {
    let cache = origin.replayed(in: memory)
    caller.subscribe(to: cache.get("a"))
    if fails { origin["a"].failed(Trouble()) } else { origin["a"].completed() }

    Recorder<Int>().subscribe(to: cache.get("a"))

    #expect(origin["a"].subscriptions == 2)
    #expect(cache.flights.count == 1)
  }

  @Test func `the last one leaving cancels the work and frees the entry`() {
    let cache = origin.replayed(in: memory)
    caller.subscribe(to: cache.get("a"))
    caller.dispose()

    #expect(origin["a"].disposals == 1)
    #expect(cache.flights.isEmpty)
  }

  @Test func `a set meanwhile wins, and waiting callers get its value`() {
    let cache = origin.replayed(in: memory)
    caller.subscribe(to: cache.get("a"))
    cache.set(2, for: "a")

    origin["a"].next(1)
    origin["a"].completed()

    #expect(caller.values == [1])
    #expect(memory.now("a", Lookup()) == 2)
  }

  @Test func `a removed value does not come back`() {
    let cache = origin.replayed(in: memory)
    caller.subscribe(to: cache.get("a"))
    cache.removeAll()
    origin["a"].next(1)
    origin["a"].completed()

    #expect(caller.values == [1])
    #expect(memory.count == 0)
  }

  @Test func `a running entry is never evicted, and weighs nothing`() {
    let cache = origin.replayed(in: memory)
    let recorders = (0..<10).map { Recorder<Int>().subscribe(to: cache.get("\($0)")) }
    for number in 10..<20 { cache.set(number, for: "\(number)") }

    #expect(memory.count == 2)
    #expect(cache.flights.count == 10)
    for number in 0..<10 { origin["\(number)"].next(number) }
    #expect(recorders.map(\.values) == (0..<10).map { [$0] })
    #expect(memory.count == 2)
  }

  @Test(arguments: [0, -1, 1])
  func `beyond the limit gets run for their callers alone`(limit: Int) {
    let cache = origin.replayed(in: memory, maxFlights: limit)
    let first = Recorder<Int>().subscribe(to: cache.get("a"))
    let second = Recorder<Int>().subscribe(to: cache.get("b"))
    let third = Recorder<Int>().subscribe(to: cache.get("b"))

    #expect(cache.flights.map(\.callers) == [1, 1, 1])
    #expect(origin["b"].subscriptions == 2)
    origin["b"].next(2)
    origin["b"].completed()
    #expect(second.values == [2] && third.values == [2])
    #expect(memory.now("b", Lookup()) == 2)
    first.dispose()
  }

  @Test func `racing asks make one request each, and no later one makes another`() {
    for round in 0..<50 {
      let origin = TestOrigin<Int, Int>()
      let cache = origin.replayed(in: MemoryCache(countLimit: 10))
      let answered = Recorder<Int>().subscribe(to: cache.get(round))
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        if number == 4 {
          origin[round].next(1)
          origin[round].completed()
        } else {
          cache.get(round).subscribe()
        }
      }
      #expect(answered.values == [1])
      #expect(origin[round].subscriptions == 1)
      #expect(cache.flights.isEmpty)
    }
  }

  @Test func `a reload fetches anew, and its answer is stored`() {
    let cache = origin.replayed(in: memory)
    cache.set(1, for: "a")
    caller.subscribe(to: cache.get("a", freshness: .reload))
    origin["a"].next(2)
    origin["a"].completed()

    #expect(caller.values == [2])
    #expect(memory.now("a", Lookup()) == 2)
  }

  @Test func `a value that a get finds expired is reported as removed before the origin answers`() {
    let memory = MemoryCache<String, Int>(
      countLimit: 2, timeToLive: .after(.seconds(1)), clock: clock)
    let cache = origin.replayed(in: memory, clock: clock)
    let gone = Recorder<String>().subscribe(
      to: memory.removals.map { "\($0.key) \($0.value) \($0.cause)" })
    cache.set(1, for: "a")
    clock.advance(by: .seconds(1))

    caller.subscribe(to: cache.get("a"))

    #expect(gone.values == ["a 1 expired"])
    #expect(caller.events.isEmpty)
  }

  @Test func `its provenance names memory and what it is over`() {
    let cache = origin.named("network").replayed(in: memory, clock: clock)
    let found = Recorder<Found<Int>>().subscribe(to: cache.lookUp("a", clock: clock))
    origin["a"].next(1)

    #expect(
      found.values.first?.provenance.steps.map(\.layer) == ["in flight", "MemoryCache", "network"])
  }
}
