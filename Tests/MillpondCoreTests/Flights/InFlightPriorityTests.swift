import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Priorities and deadlines of the callers that share a flight.
@Suite struct InFlightPriorityTests {
  let origin = TestOrigin<String, Int>()
  let first = Recorder<Int>()
  let second = Recorder<Int>()

  @Test func `a flight is as urgent as its most urgent caller`() {
    let asked = Recorder<Lookup>()
    let lookups = PublishSubject<Lookup>()
    asked.subscribe(to: lookups.signal)
    let cache = InFlightReuseTests.Listening(origin: origin, lookups: lookups).reusingInFlight()

    first.subscribe(to: cache.get("a", priority: .low))
    #expect(asked.values.map(\.priority) == [.low])
    second.subscribe(to: cache.get("a", priority: .high))
    #expect(asked.values.map(\.priority) == [.high])
    second.dispose()
    #expect(asked.values.map(\.priority) == [.low])
  }

  @Test func `the deadline of one caller is not that of the others`() {
    let clock = ManualClock()
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a", deadline: .after(.seconds(1), clock: clock)))
    second.subscribe(to: cache.get("a"))

    clock.advance(by: .seconds(2))
    origin["a"].next(1)
    origin["a"].completed()

    #expect(first.failure != nil && first.values == [])
    #expect(second.values == [1])
  }

  @Test func `a deadline ends a get without an answer, and cancels its work`() {
    let clock = ManualClock()
    let cache = origin.reusingInFlight()
    first.subscribe(to: cache.get("a", deadline: .after(.seconds(1), clock: clock)))

    clock.advance(by: .seconds(1))

    #expect(first.transcript == ["failed \(SignalError.timedOut(after: .seconds(1), key: "a"))"])
    #expect(origin["a"].disposals == 1)
  }

  @Test func `a raise reaches what the flight waits for, through other flights`() async throws {
    let slots = origin.limited(to: 1)
    let inner = slots.reusingInFlight()
    let outer = inner.mapKeys { $0 }.reusingInFlight()
    let running = inner.get("running").subscribe()
    let queued = ["a", "b"].map { Recorder<Int>().subscribe(to: outer.get($0, priority: .low)) }

    let urgent = Recorder<Int>().subscribe(to: outer.get("b", priority: .high))
    #expect(inner.flights.first { $0.key as? String == "b" }?.priority == .high)
    running.dispose()

    try await origin["b"].subscriptions(count: 1)
    #expect(origin["a"].activeRuns == 0)
    for recorder in queued + [urgent] { recorder.dispose() }
    #expect(inner.flights.isEmpty && outer.flights.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a raise that comes after the leaving raises nothing`(isFirst: Bool) {
    // The one raise lets the limited source answer, and reaches the shared one afterwards.
    let quick = AnyCache<String, Int>(
      get: { $0 == "slow" ? .never : .just(42) }, set: { _, _ in .just(()) },
      remove: { _ in .just(()) }, removeAll: { .just(()) }
    ).limited(to: 2, reserved: 1)
    let shared = origin.reusingInFlight()
    let cache = InFlightReuseTests.Racing(
      sources: isFirst ? [AnyCache(quick), AnyCache(shared)] : [AnyCache(shared), AnyCache(quick)]
    ).reusingInFlight()
    quick.get("slow").subscribe()
    let stranger = shared.get("a").subscribe()

    first.subscribe(to: cache.get("a", priority: .low))
    second.subscribe(to: cache.get("a", priority: .high))
    #expect(first.values == [42] && second.values == [42])
    #expect(shared.flights.map(\.priority) == [.normal] && shared.flights.map(\.callers) == [1])
    stranger.dispose()

    #expect(shared.flights.isEmpty && origin["a"].activeRuns == 0)
  }
}
