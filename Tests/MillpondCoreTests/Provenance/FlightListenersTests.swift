import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// The listeners of a flight come and go with its callers.
@Suite struct FlightListenersTests {
  let origin = TestOrigin<String, Int>()

  /// The number of listeners of the flight of "a".
  func count(in cache: InFlightReuse<TestOrigin<String, Int>>) -> Int? {
    let flights: Flights<String, Answer<Int>> = cache.flights
    return flights.table.withLock { $0.byKey["a"]?.handle }?.listeners.count
  }

  @Test func `a flight forgets the listeners of callers that have left, but no monitor`() {
    let cache = origin.reusingInFlight()
    let monitor = CacheMonitor()
    let waiting = cache.get("a").subscribe()

    for _ in 0..<100 {
      cache.lookUp("a").subscribe().dispose()
      cache.monitored(by: monitor).get("a").subscribe().dispose()
    }
    #expect(count(in: cache) == 1)

    let other = cache.lookUp("a").subscribe()
    #expect(count(in: cache) == 2)
    other.dispose()
    waiting.dispose()
  }

  @Test func `a fill that fails after all callers have left is reported`() {
    let (monitor, pending) = (CacheMonitor(), TestSource<Void>())
    let late = AnyCache<String, Int>(
      get: { _ in .empty }, set: { _, _ in pending.signal }, remove: { _ in .just(()) },
      removeAll: { .just(()) })
    let cache = late.named("late").layered(over: origin).reusingInFlight()
      .monitored(by: monitor)
    cache.get("a").subscribe()
    origin["a"].next(1)
    origin["a"].completed()

    pending.failed(SignalError.empty)

    #expect(monitor.statistics["late"]?.failedFills == 1)
  }
}
