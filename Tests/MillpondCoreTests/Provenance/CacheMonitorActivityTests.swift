import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CacheMonitorActivityTests {
  let clock = ManualClock()
  let origin = TestOrigin<String, Int>()
  let memory = MemoryCache<String, Int>(countLimit: 10)
  let records = Recorder<GetRecord>()

  /// Whether a monitor that is active while observed counts a get made now.
  func counts(_ monitor: CacheMonitor, in cache: some Source<String, Int>) -> Bool {
    monitor.reset()
    cache.get("a").subscribe()
    _ = cache.now("a", Lookup())
    Recorder<Stamped<Int>>().subscribe(to: cache.getStamped("a", Lookup()))
    return monitor.statistics.values.contains { $0.hits == 3 }
  }

  @Test(arguments: [false, true])
  func `it counts while its events or gets are observed`(isNamed: Bool) {
    let monitor = CacheMonitor(active: .whileObserved)
    memory.set(1, for: "a")
    let base = isNamed ? AnyCache(memory.named("memory")) : AnyCache(memory)
    let cache = base.monitored(by: monitor)
    #expect(!counts(monitor, in: cache))

    let one = monitor.events.subscribe()
    #expect(counts(monitor, in: cache))
    let other = monitor.gets.subscribe()
    #expect(counts(monitor, in: cache))
    one.dispose()
    #expect(counts(monitor, in: cache))
    other.dispose()
    #expect(!counts(monitor, in: cache))
  }

  @Test func `one that is always active is not put to sleep by a leaving observer`() {
    let monitor = CacheMonitor()
    memory.set(1, for: "a")
    let cache = memory.monitored(by: monitor)
    monitor.gets.subscribe().dispose()
    #expect(counts(monitor, in: cache))
  }

  @Test func `events of a flight that lasts beyond its observer are not counted`() {
    let monitor = CacheMonitor(active: .whileObserved)
    let cache = memory.named("memory").layered(over: origin.named("network")).reusingInFlight()
      .monitored(by: monitor)
    let observer = monitor.events.subscribe()
    cache.get("a").subscribe()
    observer.dispose()
    monitor.reset()

    origin["a"].next(1)
    origin["a"].completed()

    #expect(monitor.statistics.isEmpty)
  }

  @Test func `a record has the events of one get, its time and its end`() {
    let monitor = CacheMonitor(active: .whileObserved, clock: clock)
    let cache = memory.named("memory").layered(over: origin.named("network")).reusingInFlight()
      .monitored(by: monitor)
    records.subscribe(to: monitor.gets)
    let one = Recorder<Int>().subscribe(to: cache.get("a"))
    cache.get("b").subscribe().dispose()
    cache.get("a").subscribe()
    clock.advance(by: .seconds(2))
    #expect(records.values.map { $0.key as? String } == ["b"])

    origin["a"].next(1)
    origin["a"].completed()
    cache.get("a").subscribe()

    #expect(one.values == [1])
    #expect(records.values.map { $0.key as? String } == ["b", "a", "a", "a"])
    #expect(
      records.values.map { $0.duration } == [.zero, .seconds(2), .seconds(2), nil])
    #expect(records.values.map { "\($0.end)" } == ["left", "value", "value", "value"])
    let first = records.values[1].steps.map(\.description)
    #expect(first.first == "in flight: started a flight" && first.count == 3)
    #expect(records.values[2].steps.first?.description.contains("joined a flight") == true)
    #expect(records.values[3].steps.map(\.layer) == ["memory"])
  }

  @Test func `an event of a flight is one, however many gets with records share it`() {
    let monitor = CacheMonitor(clock: clock)
    let cache = memory.named("memory").layered(over: origin.named("network")).reusingInFlight()
      .monitored(by: monitor)
    records.subscribe(to: monitor.gets)
    let events = Recorder<CacheEvent>().subscribe(to: monitor.events)
    for _ in 0..<100 { cache.get("a").subscribe() }

    origin["a"].next(1)
    origin["a"].completed()

    #expect(monitor.statistics["network"]?.hits == 1)
    #expect(monitor.statistics["network"]?.times.count == 1)
    #expect(events.values.filter { $0.layer == "network" }.count == 1)
    #expect(records.values.count == 100)
    #expect(records.values.allSatisfy { $0.steps.last?.layer == "network" })
  }

  @Test func `a monitor around a whole and a part of it counts and records each get once`() {
    let monitor = CacheMonitor(clock: clock)
    let part = memory.named("memory").monitored(by: monitor)
    let cache = AnyCache(part.layered(over: origin.named("network")).reusingInFlight())
      .monitored(by: monitor)
    for isRecorded in [false, true] {
      monitor.reset()
      if isRecorded { records.subscribe(to: monitor.gets) }
      memory.set(1, for: "a")
      cache.get("a").subscribe()
      cache.get("b").subscribe().dispose()
      #expect(monitor.statistics["memory"]?.hits == 1)
      #expect(monitor.statistics["memory"]?.misses == 1)
    }
    #expect(records.values.count == 2)
  }

  @Test func `misses and failures have their own ends`() {
    struct Trouble: Error {}
    let monitor = CacheMonitor(active: .whileObserved)
    let cache = memory.layered(over: origin).monitored(by: monitor)
    records.subscribe(to: monitor.gets)
    cache.get("a").subscribe()
    origin["a"].completed()
    cache.get("b").subscribe()
    origin["b"].failed(Trouble())

    guard case .failed(is Trouble)? = records.values.last?.end else {
      Issue.record("no failure")
      return
    }
    #expect(records.values.map { "\($0.end)" }.first == "miss")
  }

  @Test func `a failed write has a record`() {
    struct Trouble: Error {}
    let monitor = CacheMonitor(active: .whileObserved)
    let disk = TestCache<String, Int>()
    disk.failChanges(of: "a", with: Trouble())
    let cache = disk.monitored(by: monitor)
    records.subscribe(to: monitor.gets)

    cache.set(1, for: "a")

    #expect(records.values.map { $0.key as? String } == ["a"])
    #expect(records.values.first?.steps.count == 1)
  }

  @Test func `a get with endless events keeps a limited number of them`() {
    let monitor = CacheMonitor(active: .whileObserved)
    let sources = (0..<100).map { AnyCache(TestCache<String, Int>().named("\($0)")) }
    let cache = AnyCache(layering: sources).monitored(by: monitor)
    records.subscribe(to: monitor.gets)

    cache.get("a").subscribe()

    #expect(records.values.first?.steps.count == GetRecord.limit)
  }
}
