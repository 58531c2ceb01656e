import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct CacheMonitorTests {
  let clock = ManualClock()
  let origin = TestOrigin<String, Int>()
  let disk = TestCache<String, Int>()
  let memory = MemoryCache<String, Int>(countLimit: 10)
  let events = Recorder<CacheEvent>()

  struct Trouble: Error {}

  /// A source that reports the requests for its topology.
  struct Watched: Source {
    let look: @Sendable () -> Void

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { .empty }

    func topology(for key: String?) -> Topology {
      look()
      return Topology(.origin, "watched")
    }
  }

  /// A source that answers at once, after it has made its caller leave.
  struct Leaving: Source {
    let leave: @Sendable () -> Void

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
      leave()
      return .just(1)
    }
  }

  @Test func `it counts hits, misses and failures by layer`() {
    let monitor = CacheMonitor(clock: clock)
    let cache = memory.named("memory").layered(over: disk.named("disk")).monitored(by: monitor)
    disk.set(1, for: "a")
    disk.failGets(of: "c", with: Trouble())

    for key in ["a", "a", "b", "c"] { cache.get(key).subscribe() }

    #expect(monitor.statistics["memory"]?.hits == 1)
    #expect(monitor.statistics["memory"]?.misses == 3)
    #expect(monitor.statistics["disk"]?.hits == 1)
    #expect(monitor.statistics["disk"]?.misses == 1)
    #expect(monitor.statistics["disk"]?.failures == 1)
    #expect(monitor.statistics["memory"]?.hitRatio == 0.25)
  }

  @Test func `each get is counted once, however it is made`() {
    let monitor = CacheMonitor()
    memory.set(1, for: "a")
    let cache = AnyCache(memory.monitored(by: monitor))

    cache.get("a").subscribe()
    Recorder<Stamped<Int>>().subscribe(to: cache.getStamped("a", Lookup()))
    cache.get("a", freshness: .atMost(.seconds(9))).subscribe()

    #expect(monitor.statistics == monitor.statistics.filter { $0.key == "MemoryCache" })
    #expect(monitor.statistics["MemoryCache"]?.hits == 3)
  }

  @Test func `a fill that fails is reported, and the value is given all the same`() {
    let monitor = CacheMonitor()
    disk.failChanges(of: "a", with: Trouble())
    let cache = disk.named("disk").layered(over: origin).monitored(by: monitor)
    events.subscribe(to: monitor.events)
    let caller = Recorder<Int>().subscribe(to: cache.get("a"))

    origin["a"].next(1)

    #expect(caller.values == [1])
    #expect(monitor.statistics["disk"]?.failedFills == 1)
    #expect(events.values.contains { $0.description.hasPrefix("disk: not stored") })
  }

  @Test func `a write that fails is reported, with the layer that failed`() {
    let monitor = CacheMonitor()
    disk.failChanges(of: "a", with: Trouble())
    let cache = memory.layered(over: disk.named("disk")).monitored(by: monitor)

    let outcome = Recorder<Void>().subscribe(to: cache.set(1, for: "a"))

    guard case CacheError.partlyStored(_, "disk", let error)? = outcome.failure else {
      Issue.record("\(outcome.transcript)")
      return
    }
    #expect(error is Trouble)
    #expect(monitor.statistics["disk"]?.failedWrites == 1)
  }

  @Test func `layers are distinguished by their names, however many there are`() {
    let monitor = CacheMonitor(clock: clock)
    let caches = (0..<20).map { number in
      AnyCache(disk.named("layer with the number \(number)").monitored(by: monitor))
    }

    for _ in 0..<2 { for cache in caches { cache.get("a").subscribe() } }

    #expect(monitor.statistics.count == 20)
    #expect(monitor.statistics.values.allSatisfy { $0.misses == 2 })
  }

  @Test func `a layer describes itself once to a listener, and never to a layer without one`() {
    let looks = Locked(0)
    let cache = memory.layered(over: Watched { looks.withLock { $0 += 1 } })
    for key in ["a", "b", "c"] { cache.get(key).subscribe() }
    #expect(looks.withLock { $0 } == 0)
    let monitor = CacheMonitor(clock: clock)
    let monitored = cache.monitored(by: monitor)
    monitored.get("a").subscribe()
    let first = looks.withLock { $0 }

    for key in ["a", "b", "c"] { monitored.get(key).subscribe() }

    #expect(looks.withLock { $0 } == first)
    #expect(monitor.statistics["watched"]?.misses == 4)
  }

  @Test func `flights and joins are counted, and a hundred joiners make one load`() {
    let monitor = CacheMonitor(clock: clock)
    let cache = origin.named("network").reusingInFlight(clock: clock).monitored(by: monitor)
    for _ in 0..<100 { cache.get("a").subscribe() }
    clock.advance(by: .milliseconds(100))
    origin["a"].next(1)
    origin["a"].completed()

    #expect(monitor.statistics["in flight"]?.flights == 1)
    #expect(monitor.statistics["in flight"]?.joins == 99)
    #expect(monitor.statistics["network"]?.hits == 1)
    #expect(monitor.statistics["network"]?.times.count == 1)
    #expect(monitor.statistics["network"]?.times.quantile(0.5) == .milliseconds(100))
  }

  @Test(arguments: [false, true])
  func `to a monitor that joins between a value and the end, the end is no miss`(isErased: Bool) {
    let monitor = CacheMonitor(clock: clock)
    let full = MemoryCache<String, Int>(countLimit: 0)
    let lower = origin.named("network")
    let shared =
      isErased
      ? AnyCache(AnyCache(full).layered(over: lower).reusingInFlight())
      : AnyCache(full.layered(over: lower).reusingInFlight())
    shared.get("a").subscribe()
    origin["a"].next(1)

    shared.monitored(by: monitor).get("a").subscribe()
    origin["a"].completed()

    #expect(monitor.statistics["in flight"]?.joins == 1)
    #expect(monitor.statistics["network"]?.misses ?? 0 == 0)
  }

  @Test func `an immediate answer to a get that ended meanwhile is neither reported nor stored`() {
    let (monitor, gone) = (CacheMonitor(clock: clock), PublishSubject<Void>())
    let cache = memory.named("memory").layered(over: Leaving { gone.next(()) })

    let values = Recorder<Int>().subscribe(
      to: cache.monitored(by: monitor).get("a").take(until: gone.signal))

    #expect(values.transcript == ["completed"])
    #expect(monitor.statistics["Leaving"]?.hits ?? 0 == 0 && memory.peek("a") == nil)
  }

  @Test func `two monitors receive each event once`() {
    let (one, other) = (CacheMonitor(), CacheMonitor())
    let cache = disk.monitored(by: one).reusingInFlight().monitored(by: other)

    cache.get("a").subscribe()

    #expect(one.statistics["TestCache"]?.misses == 1)
    #expect(other.statistics["TestCache"]?.misses == 1)
  }

  @Test func `an observer of events may ask the cache`() {
    let monitor = CacheMonitor()
    let cache = memory.layered(over: disk).monitored(by: monitor)
    let depth = Recorder<CacheEvent>().subscribe(
      to: monitor.events.take(1).onNext { _ in
        cache.get("b").subscribe()
      })

    cache.get("a").subscribe()

    #expect(depth.isCompleted)
    #expect(monitor.statistics["TestCache"]?.misses == 2)
  }

  @Test func `a reset begins anew`() {
    let monitor = CacheMonitor()
    disk.monitored(by: monitor).get("a").subscribe()

    monitor.reset()

    #expect(monitor.statistics.isEmpty)
  }

  @Test func `gets from four threads are all counted`() async {
    let monitor = CacheMonitor()
    let cache = memory.named("memory").monitored(by: monitor)
    cache.set(1, for: "a")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<1_000 { cache.get("a").subscribe() }
        }
      }
    }

    #expect(monitor.statistics["memory"]?.hits == 4_000)
  }

  @Test func `a hit of a layer without a name is counted under its title`() {
    let monitor = CacheMonitor()
    let memory = MemoryCache<Int, Int>(countLimit: 4)
    memory.set(1, for: 1)

    memory.layered(over: TestOrigin<Int, Int>()).monitored(by: monitor).get(1).subscribe()

    #expect(monitor.statistics["MemoryCache"]?.hits == 1)
  }

  @Test func `a hit of a named layer in a composition is one hit`() {
    let monitor = CacheMonitor()
    let memory = MemoryCache<Int, Int>(countLimit: 4)
    memory.set(1, for: 1)

    memory.named("front").layered(over: TestOrigin<Int, Int>()).monitored(by: monitor).get(1)
      .subscribe()

    #expect(monitor.statistics["front"]?.hits == 1)
    #expect(monitor.statistics["MemoryCache"] == nil)
  }

  @Test func `a monitor leaves an immediate value immediate, and counts it once`() {
    let monitor = CacheMonitor()
    let base = MemoryCache<Int, Int>(countLimit: 4)
    base.set(1, for: 1)
    let cache = base.named("base").mapValues(.identity).monitored(by: monitor)

    #expect(cache.now(1) == 1)
    #expect(monitor.statistics["base"]?.hits == 1)
  }

  @Test func `a value that cannot be decoded is no hit of an immediate answer`() {
    let monitor = CacheMonitor()
    let base = MemoryCache<Int, Int>(countLimit: 4)
    base.set(1, for: 1)
    let cache = base.named("base")
      .mapValues(encode: { (value: Int) in value }, decode: { (_: Int) -> Int in throw Offline() })
      .monitored(by: monitor)

    #expect(cache.now(1) == nil)
    #expect(monitor.statistics["base"] == nil)
  }
}
