import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CircuitBreakingTests {
  let origin = TestOrigin<Int, Int>()
  let clock = ManualClock()

  struct Trouble: Error {}

  struct NotFound: Error {}

  private func breaking(_ count: Int = 3) -> Governed<TestOrigin<Int, Int>> {
    origin.circuitBreaking(
      afterFailures: count, for: .seconds(30), counting: { !($0 is NotFound) }, clock: clock)
  }

  private func ask(_ source: some Source<Int, Int>, _ key: Int = 0) -> Recorder<Int> {
    Recorder<Int>().subscribe(to: source.get(key))
  }

  /// Makes gets that fail.
  private func fail(_ source: some Source<Int, Int>, _ count: Int, _ error: any Error = Trouble()) {
    for _ in 0..<count {
      let recorder = ask(source)
      origin[0].failed(error)
      #expect(recorder.failure != nil)
    }
  }

  private func remaining(_ recorder: Recorder<Int>) -> Duration? {
    if case CacheError.circuitOpen(_, let remaining, _)? = recorder.failure { return remaining }
    return nil
  }

  @Test func `after so many failures in a row gets fail at once, with the time until the next`() {
    let source = breaking()
    fail(source, 3)
    let asked = origin[0].subscriptions

    clock.advance(by: .seconds(10))
    let refused = ask(source)

    #expect(remaining(refused) == .seconds(20))
    #expect(origin[0].subscriptions == asked)
  }

  @Test func `its opening and its closing are events, once each, and its state can be asked for`() {
    let monitor = CacheMonitor(clock: clock)
    let source = origin.named("people")
      .circuitBreaking(afterFailures: 2, for: .seconds(30), clock: clock).monitored(by: monitor)
    let changes = Locked<[String]>([])
    let events = monitor.events.subscribe(onNext: { event in
      switch event.kind {
      case .circuitOpened, .circuitClosed: changes.withLock { $0.append("\(event)") }
      default: break
      }
    })
    defer { events.dispose() }

    fail(source, 1)
    #expect(source.openCircuits == [:])
    fail(source, 1)
    #expect(source.openCircuits == ["people": .seconds(30)])
    #expect(changes.withLock { $0 } == ["people: circuit open for 30 s"])
    clock.advance(by: .seconds(31))
    #expect(source.openCircuits == ["people": .zero])
    let attempt = ask(source)
    origin[0].next(1)
    #expect(attempt.values == [1])

    #expect(source.openCircuits == [:])
    #expect(
      changes.withLock { $0 } == ["people: circuit open for 30 s", "people: circuit closed"])
  }

  @Test func `the error names the source, and the failure because of which it is not asked`() {
    let source = origin.named("people").circuitBreaking(afterFailures: 1, for: .seconds(9))
    fail(source, 1)

    guard case CacheError.circuitOpen(let layer, _, let failure)? = ask(source).failure else {
      Issue.record("not refused")
      return
    }
    #expect(layer == "people")
    #expect(failure is Trouble)
  }

  @Test func `a success or a miss in between begins the count anew`() {
    let source = breaking()
    fail(source, 2)
    _ = ask(source)
    origin[0].next(1)
    origin[0].completed()
    fail(source, 2)
    _ = ask(source)
    origin[0].completed()
    fail(source, 2)

    let last = ask(source)

    #expect(remaining(last) == nil)
  }

  @Test func `after the pause one get is let through, and its success closes the circuit`() {
    let source = breaking()
    fail(source, 3)
    clock.advance(by: .seconds(30))

    let attempt = ask(source, 1)
    let others = (0..<3).map { _ in ask(source, 2) }
    #expect(origin[1].subscriptions == 1)
    #expect(others.allSatisfy { remaining($0) == .seconds(30) })
    #expect(origin[2].subscriptions == 0)

    origin[1].next(7)
    #expect(attempt.values == [7])
    _ = ask(source, 2)
    #expect(origin[2].subscriptions == 1)
    fail(source, 2)
    #expect(remaining(ask(source, 3)) == nil)
  }

  @Test func `a miss closes the circuit`() {
    let source = breaking(1)
    fail(source, 1)
    clock.advance(by: .seconds(30))

    _ = ask(source, 1)
    origin[1].completed()

    #expect(remaining(ask(source, 2)) == nil)
  }

  @Test func `an attempt that fails opens the circuit for another pause`() {
    let source = breaking()
    fail(source, 3)
    clock.advance(by: .seconds(30))
    _ = ask(source, 1)
    clock.advance(by: .seconds(10))
    origin[1].failed(Trouble())

    #expect(remaining(ask(source, 2)) == .seconds(30))
    clock.advance(by: .seconds(30))
    #expect(remaining(ask(source, 2)) == nil)
  }

  @Test func `an attempt that is never answered does not close the source for ever`() {
    let source = breaking()
    fail(source, 3)
    clock.advance(by: .seconds(30))
    let silent = ask(source, 1)
    #expect(remaining(ask(source, 2)) == .seconds(30))

    clock.advance(by: .seconds(30))
    _ = ask(source, 2)
    #expect(origin[2].subscriptions == 1)

    // The failure of the former attempt says nothing about this one, and its end neither.
    origin[1].failed(Trouble())
    silent.dispose()
    #expect(remaining(ask(source, 3)) == .seconds(30))
    origin[2].next(1)
    #expect(remaining(ask(source, 3)) == nil)
  }

  @Test func `a caller that leaves counts as neither, and gives up the attempt`() {
    let source = breaking(1)
    for _ in 0..<5 { ask(source, 9).dispose() }
    #expect(remaining(ask(source, 8)) == nil)
    fail(source, 1)
    clock.advance(by: .seconds(30))

    let attempt = ask(source, 1)
    attempt.dispose()

    _ = ask(source, 2)
    #expect(origin[2].subscriptions == 1)
    #expect(remaining(ask(source, 3)) == .seconds(30))
  }

  @Test func `an answer after the caller has left changes nothing`() {
    let calls = Locked<[Observer<Int>]>([])
    let rude = AnyCache<Int, Int>(
      get: { _ in Signal { observer, _ in calls.withLock { $0.append(observer) } } },
      set: { _, _ in .just(()) }, remove: { _ in .just(()) }, removeAll: { .just(()) })
    let source = rude.circuitBreaking(afterFailures: 1, for: .seconds(30), clock: clock)
    let left = ask(source)
    left.dispose()

    calls.withLock { $0[0] }.failed(Trouble())

    #expect(remaining(ask(source)) == nil)
  }

  @Test(
    arguments: [
      NotFound(), CancellationError(), CacheError.circular(key: "0"), CacheError.refused(key: "0"),
      CacheError.scopeEnded(),
      CacheError.tooManyWaiting(key: "0", layer: "limited", limit: 1),
      CacheError.circuitOpen(layer: "other", remaining: .zero, underlying: Trouble()),
    ] as [any Error])
  func `an error that does not count is neither a failure nor a success`(error: any Error) {
    let source = breaking(2)
    fail(source, 1)
    fail(source, 5, error)
    #expect(remaining(ask(source, 9)) == nil)
    fail(source, 1)
    #expect(remaining(ask(source, 9)) == .seconds(30))

    clock.advance(by: .seconds(30))
    fail(source, 1, error)
    // The attempt has decided nothing, so the next get is one.
    fail(source, 1)
    #expect(remaining(ask(source, 9)) == .seconds(30))
  }

  @Test func `a timeout under the circuit counts`() {
    let source = origin.timingOut(after: .seconds(1), clock: clock)
      .circuitBreaking(afterFailures: 1, for: .seconds(30), clock: clock)
    _ = ask(source)

    clock.advance(by: .seconds(1))

    #expect(remaining(ask(source)) == .seconds(30))
  }

  @Test func `answers to gets that began before the circuit opened do not count`() {
    let source = breaking(1)
    let early = ask(source, 1)
    let other = ask(source, 2)
    fail(source, 1)

    origin[1].next(1)
    #expect(early.values == [1])
    #expect(remaining(ask(source, 3)) == .seconds(30))
    clock.advance(by: .seconds(10))
    origin[2].failed(Trouble())
    #expect(other.failure != nil)
    #expect(remaining(ask(source, 3)) == .seconds(20))
  }

  @Test func `a failure of a get from before the circuit closed again does not open it`() {
    let source = breaking(1)
    let early = ask(source, 1)
    fail(source, 1)
    clock.advance(by: .seconds(30))
    _ = ask(source, 2)
    origin[2].next(1)

    origin[1].failed(Trouble())

    #expect(early.failure is Trouble)
    #expect(remaining(ask(source, 3)) == nil)
  }

  @Test func `the first value decides, and a later failure does not`() {
    let source = breaking(1)
    _ = ask(source)
    origin[0].next(1)
    origin[0].failed(Trouble())

    #expect(remaining(ask(source, 1)) == nil)
  }

  @Test func `exactly one of many threads makes the attempt`() {
    for _ in 0..<50 {
      let source = breaking(1)
      fail(source, 1)
      clock.step(by: .seconds(30))
      let before = origin[1].subscriptions

      let recorders = Locked<[Recorder<Int>]>([])
      DispatchQueue.concurrentPerform(iterations: 32) { _ in
        let recorder = ask(source, 1)
        recorders.withLock { $0.append(recorder) }
      }

      #expect(origin[1].subscriptions == before + 1)
      for recorder in recorders.withLock({ $0 }) { recorder.dispose() }
    }
  }

  @Test func `a clock that jumps back prolongs nothing, and one that jumps on ends the pause`() {
    let source = breaking(1)
    fail(source, 1)
    clock.step(by: .seconds(-1_000))
    #expect(remaining(ask(source, 1)) == .seconds(30))

    clock.step(by: .seconds(1_000_000))
    #expect(remaining(ask(source, 1)) == nil)
  }

  @Test(
    arguments: [
      .zero, .seconds(-5), .seconds(Int64.min), .nanoseconds(1), .seconds(Int64.max),
    ] as [Duration])
  func `any pause and any count are allowed`(pause: Duration) {
    for count in [Int.min, -1, 0, 1] {
      let source = origin.circuitBreaking(afterFailures: count, for: pause, clock: clock)
      fail(source, 1)
      #expect((remaining(ask(source, 1)) == nil) == (pause <= .zero))
    }
    let never = origin.circuitBreaking(afterFailures: .max, for: pause, clock: clock)
    fail(never, 9)
    #expect(remaining(ask(never, 1)) == nil)
  }

  @Test func `a cancellation is no failure of the origin, whatever error reports it`() {
    struct Cancelled: ConnectivityError {
      var isLossOfConnectivity: Bool { false }
      var isCancelled: Bool { true }
    }
    let source = breaking(1)

    fail(source, 2, CancellationError())
    fail(source, 2, Cancelled())
    fail(source, 2, CacheError.unavailable(layer: "network", underlying: Cancelled()))

    #expect(remaining(ask(source)) == nil)
  }

  @Test func `stored values, immediate ones and writes pass an open circuit`() {
    let store = TestCache<Int, Int>()
    let memory = MemoryCache<Int, Int>(countLimit: 9)
    let source = memory.layered(over: store).circuitBreaking(
      afterFailures: 1, for: .seconds(30), clock: clock)
    store.set(1, for: 1)
    memory.set(2, for: 2)
    store.failGets(of: 0, with: Trouble())
    _ = ask(source)
    #expect(remaining(ask(source)) == .seconds(30))

    #expect(ask(source, 2).values == [2])
    #expect(
      Recorder<Int>().subscribe(to: source.get(1, freshness: .cachedOnly)).values == [1])
    source.set(3, for: 3)
    #expect(ask(source, 3).values == [3])
  }

  @Test func `a call for many keys counts once`() {
    let calls = TestOrigin<[Int], [Int: Int]>()
    let source = BulkSource<Int, Int> { calls.get($0) }
      .circuitBreaking(afterFailures: 2, for: .seconds(30), clock: clock)
      .batching(window: .seconds(1), max: 50, clock: clock)
    let first = (0..<50).map { ask(source, $0) }
    calls[Array(0..<50)].failed(Trouble())
    #expect(first.allSatisfy { $0.failure is Trouble })

    let second = (0..<50).map { ask(source, $0) }
    calls[Array(0..<50)].failed(Trouble())
    #expect(second.allSatisfy { $0.failure is Trouble })

    let third = (0..<50).map { ask(source, $0) }
    #expect(third.allSatisfy { remaining($0) == .seconds(30) })
    #expect(calls[Array(0..<50)].subscriptions == 2)
  }

  @Test func `retrying over an open circuit waits for the next attempt, or gives up`() {
    let policy = RetryPolicy.backoff(
      attempts: 3, from: .seconds(1), upTo: .seconds(60), jitter: 0)
    let patient = breaking(1).retrying(policy, clock: clock)
    let recorder = ask(patient)
    origin[0].failed(Trouble())
    // The second attempt is refused, and the third waits until the pause is over.
    clock.advance(by: .seconds(1))
    #expect(origin[0].subscriptions == 1)
    clock.advance(by: .seconds(28))
    #expect(origin[0].subscriptions == 1 && recorder.transcript == [])
    clock.advance(by: .seconds(1))
    #expect(origin[0].subscriptions == 2)
    origin[0].next(1)
    #expect(recorder.values == [1])

    let hasty = breaking(1).retrying(
      .backoff(attempts: 9, from: .seconds(1), upTo: .seconds(5), jitter: 0), clock: clock)
    let given = ask(hasty, 1)
    origin[1].failed(Trouble())
    clock.advance(by: .seconds(1))
    #expect(remaining(given) == .seconds(29))
  }

  @Test func `a stale value stands in while the circuit is open`() {
    let store = MemoryCache<Int, Int>(countLimit: 9, clock: clock)
    store.set(1, for: 0)
    let source = breaking(1).remembered(
      in: store, FreshnessPolicy(freshFor: .after(.seconds(1))), clock: clock)
    clock.advance(by: .seconds(5))
    let failed = ask(source)
    origin[0].failed(Trouble())
    #expect(failed.failure is Trouble)

    #expect(ask(source).values == [1])
  }

  @Test(arguments: [false, true])
  func `a refusal names the source by the name around the policies`(isLayered: Bool) {
    let named = AnyCache(breaking(1).limited(to: 2).named("inner").named("people"))
    let source = isLayered ? AnyCache(EmptyCache().named("none").layered(over: named)) : named
    fail(source, 1)

    guard case CacheError.circuitOpen("people", _, _)? = ask(source).failure else {
      Issue.record("\(ask(source).transcript)")
      return
    }
  }

  @Test func `the topology says how the circuit is, and the statistics count refusals`() {
    let monitor = CacheMonitor(clock: clock)
    let circuit = breaking(1)
    let source = circuit.named("people").monitored(by: monitor)
    #expect(circuit.topology(for: nil).title == "circuit breaking after 1, closed")
    fail(source, 1)
    #expect(circuit.topology(for: nil).title == "circuit breaking after 1, open for 30 s")
    for _ in 0..<4 { _ = ask(source) }
    #expect(monitor.statistics["people"]?.refusals == 4)
    #expect(monitor.statistics["people"]?.failures == 1)
    #expect(monitor.statistics["people"]?.times.count == 1)

    clock.advance(by: .seconds(30))
    #expect(circuit.topology(for: nil).title == "circuit breaking after 1, half open")
  }
}
