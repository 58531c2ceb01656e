import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct FlightsTests {
  let clock = ManualClock()
  let origin = TestOrigin<String, Int>()

  @Test func `the list says for what, for how long and for how many`() throws {
    let cache = AnyCache(origin.reusingInFlight(clock: clock))
    let one = cache.get("a", priority: .low).subscribe()
    clock.advance(by: .seconds(3))
    let other = cache.get("a", priority: .high).subscribe()

    let record = try #require(cache.flights.first)
    #expect(cache.flights.count == 1)
    #expect(record.key as? String == "a")
    #expect(record.age == .seconds(3))
    #expect(record.callers == 2)
    #expect(record.priority == .high)
    #expect(record.place?.hasPrefix("MillpondCoreTests/FlightsTests.swift:") ?? true)

    one.dispose()
    other.dispose()
    #expect(cache.flights.isEmpty)
  }

  @Test func `a reload is among the gets under way, until it ends`() throws {
    let cache = AnyCache(origin.reusingInFlight(clock: clock))
    cache.get("a").subscribe()
    clock.advance(by: .seconds(1))
    cache.get("a", priority: .high, freshness: .reload).subscribe()
    clock.advance(by: .seconds(2))

    #expect(cache.flights.map(\.age) == [.seconds(3), .seconds(2)])
    let reload = try #require(cache.flights.last)
    #expect(reload.key as? String == "a" && reload.callers == 1 && reload.priority == .high)

    origin["a"].next(1)
    origin["a"].completed()
    #expect(cache.flights.isEmpty)
  }

  @Test func `each flight that lasts too long is reported once`() {
    let cache = origin.reusingInFlight(clock: clock)
    let alarms = Recorder<String>().subscribe(
      to: cache.flights(olderThan: .seconds(30), clock: clock).map { "\($0.key)" })
    let slow = cache.get("a").subscribe()
    clock.advance(by: .seconds(20))
    #expect(alarms.values == [])
    let other = cache.get("b").subscribe()

    clock.advance(by: .seconds(20))
    #expect(alarms.values == ["a"])
    clock.advance(by: .seconds(60))
    #expect(alarms.values == ["a", "b"])

    slow.dispose()
    let again = cache.get("a").subscribe()
    clock.advance(by: .seconds(60))
    #expect(alarms.values == ["a", "b", "a"])

    alarms.dispose()
    again.dispose()
    other.dispose()
    #expect(clock.pendingCount == 0)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
  func `a limit of zero or less checks at a slow rate, and does not spin`(limit: Duration) {
    let cache = origin.reusingInFlight(clock: clock)
    let alarms = Recorder<FlightRecord>().subscribe(
      to: cache.flights(olderThan: limit, clock: clock))
    let flight = cache.get("a").subscribe()

    clock.advance(by: .milliseconds(10))

    #expect(alarms.values.count == 1)
    alarms.dispose()
    flight.dispose()
  }
}
