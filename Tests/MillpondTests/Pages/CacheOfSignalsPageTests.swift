import Millpond
import MillpondTesting
import Testing

/// The code of the page "A cache of signals", and its promises.
@Suite struct CacheOfSignalsPageTests {
  struct Forecast: Sendable, Equatable {
    var degrees: Int
  }

  static func forecasts(
    from station: some Source<String, Forecast>, clock: some Clock<Duration>,
    _ show: @escaping @Sendable (Forecast) -> Void
  ) -> MemoryCache<String, Forecast> {
    // snippet
    let forecasts = MemoryCache<String, Forecast>(
      countLimit: 500, timeToLive: .minutes(10), clock: clock)

    forecasts["Oslo"] = station.get("Oslo").replayLast()  // waits for its first subscriber
    forecasts["Oslo"]?.subscribe(onNext: show)  // starts it, or joins it
    // end
    return forecasts
  }

  // snippet
  struct Weather<Stations: Source<String, Forecast>, Buoys: Source<String, Forecast>>: Sendable {
    let forecasts: MemoryCache<String, Forecast>
    let stations: Stations
    let buoys: Buoys

    func atStation(_ name: String) -> Signal<Forecast> {
      forecasts.signal(for: "station \(name)") { stations.get(name) }
    }

    func atSea(_ name: String) -> Signal<Forecast> {
      forecasts.signal(for: "buoy \(name)") { buoys.get(name) }
    }
  }
  // end

  static func drop(
    _ forecasts: MemoryCache<String, Forecast>, on pressure: Signal<MemoryPressure>
  ) -> Disposable {
    // snippet
    forecasts["Oslo"] = nil  // by hand; present subscribers stay subscribed
    forecasts.countLimit = 100  // by size, at once
    forecasts.removeExpired()  // by age; an expired value is a miss in any case
    let relief = pressure.subscribe(onNext: { forecasts.relieve($0) })
    // end
    return relief
  }

  static func replayed(
    _ station: some Source<String, Forecast>, in forecasts: MemoryCache<String, Forecast>
  ) -> some Cache<String, Forecast> {
    // snippet
    let cached = station.replayed(in: forecasts)
    // end
    return cached
  }

  private let clock = ManualClock()
  private let station = TestOrigin<String, Forecast>()
  private let buoys = TestOrigin<String, Forecast>()
  private let shown = Recorder<Forecast>()

  /// The cache of the first snippet; what it shows goes to `first`.
  private func forecasts(_ first: Watched<[Int]> = Watched([])) -> MemoryCache<String, Forecast> {
    Self.forecasts(from: station, clock: clock) { forecast in
      first.change { $0.append(forecast.degrees) }
    }
  }

  private func answer(_ degrees: Int, for name: String = "Oslo") {
    station[name].next(Forecast(degrees: degrees))
    station[name].completed()
  }

  @Test func `an entry runs once for all subscribers, and then its last value is the answer`()
    throws
  {
    let first = Watched<[Int]>([])
    let forecasts = forecasts(first)
    station["Oslo"].next(Forecast(degrees: 1))

    shown.subscribe(to: try #require(forecasts["Oslo"]))
    answer(2)

    #expect(first.state == [1, 2])
    #expect(shown.values.map(\.degrees) == [1, 2])
    #expect(shown.isCompleted)
    #expect(station["Oslo"].subscriptions == 1)
    #expect(forecasts.peek("Oslo")?.degrees == 2)
  }

  @Test func `several sources share one table and its running signals`() {
    let weather = Weather(
      forecasts: MemoryCache(countLimit: 500), stations: station, buoys: buoys)
    let onLand = (0..<3).map { _ in Recorder<Forecast>().subscribe(to: weather.atStation("Oslo")) }
    let atSea = Recorder<Forecast>().subscribe(to: weather.atSea("Oslo"))

    answer(1)
    buoys["Oslo"].next(Forecast(degrees: 2))
    buoys["Oslo"].completed()

    #expect(onLand.allSatisfy { $0.values == [Forecast(degrees: 1)] && $0.isCompleted })
    #expect(atSea.values == [Forecast(degrees: 2)])
    #expect(station["Oslo"].subscriptions == 1)
    #expect(buoys["Oslo"].subscriptions == 1)
    #expect(weather.forecasts.count == 2)
  }

  @Test func `a failure leaves nothing, and the next subscriber starts anew`() {
    let weather = Weather(
      forecasts: MemoryCache(countLimit: 500), stations: station, buoys: buoys)
    let failed = Recorder<Forecast>().subscribe(to: weather.atStation("Oslo"))
    station["Oslo"].failed(Unreadable())
    #expect(failed.failure is Unreadable)

    shown.subscribe(to: weather.atStation("Oslo"))
    answer(1)

    #expect(shown.values == [Forecast(degrees: 1)])
    #expect(station["Oslo"].subscriptions == 2)
  }

  @Test func `values are dropped by hand, by size, by age and under pressure`() {
    let forecasts = forecasts()
    answer(1)
    for number in 0..<400 { forecasts.set(Forecast(degrees: number), for: "\(number)") }
    let pressure = PublishSubject<MemoryPressure>()

    let relief = Self.drop(forecasts, on: pressure.signal)
    #expect(forecasts.peek("Oslo") == nil)
    #expect(forecasts.count == 100)
    pressure.next(.warning)
    #expect(forecasts.count == 50)
    clock.advance(by: .seconds(601))
    #expect((0..<400).allSatisfy { forecasts.peek("\($0)") == nil })
    relief.dispose()
  }

  @Test func `an entry that is dropped by hand serves its present subscribers only`() throws {
    let forecasts = forecasts()
    shown.subscribe(to: try #require(forecasts["Oslo"]))

    forecasts["Oslo"] = nil
    #expect(forecasts["Oslo"] == nil)
    answer(1)

    #expect(shown.values == [Forecast(degrees: 1)])
    #expect(forecasts.peek("Oslo") == nil)
  }

  @Test func `a source that is replayed in a memory is asked once`() {
    let cached = Self.replayed(station, in: MemoryCache(countLimit: 500))
    let recorders = (0..<3).map { _ in Recorder<Forecast>().subscribe(to: cached.get("Oslo")) }

    answer(1)
    shown.subscribe(to: cached.get("Oslo"))

    #expect((recorders + [shown]).allSatisfy { $0.values == [Forecast(degrees: 1)] })
    #expect(station["Oslo"].subscriptions == 1)
  }
}
