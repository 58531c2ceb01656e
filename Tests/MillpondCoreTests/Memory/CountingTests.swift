import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// The rule that one get is one hit or one miss, for every way to get.
@Suite struct CountingTests {
  enum Way: CaseIterable {
    case subscribe, value, valueIfAny, values, all, first, filter, zip

    func ask(_ cache: AnyCache<Int, Int>, _ key: Int) async {
      switch self {
      case .subscribe: cache.get(key).subscribe()
      case .value: _ = try? await cache.get(key).value
      case .valueIfAny: _ = try? await cache.get(key).valueIfAny
      case .values:
        do { for try await _ in cache.get(key).values {} } catch {}
      case .all: _ = try? await cache.get(all: [key, key]).value
      case .first: cache.get(key).take(1).map { $0 }.subscribe()
      case .filter: cache.get(key).filter { _ in false }.subscribe()
      case .zip: MillpondSignals.zip(cache.get(key), .just(1)).subscribe()
      }
    }
  }

  enum Composition: CaseIterable {
    case alone, layered, reusing, reusingTwice, replayed, replayedAlone, remembered
    case rememberedBelow, refreshedAhead, limited, keysMapped, valuesMapped, named, monitored

    func cache(_ memory: MemoryCache<Int, Int>, over origin: some Source<Int, Int>)
      -> AnyCache<Int, Int>
    {
      let layered = memory.layered(over: origin)
      let fresh = FreshnessPolicy(freshFor: .after(.seconds(60)))
      return switch self {
      case .alone: AnyCache(memory)
      case .layered: AnyCache(layered)
      case .reusing: AnyCache(layered.reusingInFlight())
      case .reusingTwice: AnyCache(AnyCache(layered.reusingInFlight()).reusingInFlight())
      case .replayed: AnyCache(origin.replayed(in: memory))
      case .replayedAlone: AnyCache(origin.replayed(in: memory, maxFlights: 0))
      case .remembered: AnyCache(origin.remembered(in: memory, fresh))
      case .rememberedBelow:
        AnyCache(
          EmptyCache<Int, Int>().named("none").layered(
            over: origin.remembered(in: memory, fresh)))
      case .refreshedAhead:
        AnyCache(
          origin.remembered(
            in: memory,
            FreshnessPolicy(freshFor: .after(.seconds(60)), refreshAhead: .seconds(10))))
      case .limited: AnyCache(layered.limited(to: 1))
      case .keysMapped: AnyCache(layered.mapKeys { $0 })
      case .valuesMapped: AnyCache(layered.mapValues(.identity))
      case .named: AnyCache(memory.named("memory").layered(over: origin).reusingInFlight())
      case .monitored: AnyCache(layered.monitored(by: CacheMonitor()))
      }
    }
  }

  struct Origin: Source {
    func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> { .just(key) }
  }

  let memory = MemoryCache<Int, Int>(countLimit: 100)

  @Test(arguments: Composition.allCases, Way.allCases)
  func `a get that finds nothing is one miss, and one that finds a value is one hit`(
    composition: Composition, way: Way
  ) async {
    let cache = composition.cache(memory, over: Origin())

    await way.ask(cache, 1)
    #expect(memory.statistics.misses == 1 && memory.statistics.hits == 0)

    memory.set(1, for: 1)
    await way.ask(cache, 1)
    #expect(memory.statistics.misses == 1 && memory.statistics.hits == 1)
  }

  @Test(arguments: [Composition.reusing, .reusingTwice, .replayed, .remembered, .refreshedAhead])
  func `a get that joins a flight is one miss`(composition: Composition) {
    let origin = TestOrigin<Int, Int>()
    let cache = composition.cache(memory, over: origin)

    let recorders = (0..<3).map { _ in Recorder<Int>().subscribe(to: cache.get(1)) }
    #expect(memory.statistics.misses == 3 && memory.statistics.hits == 0)

    origin[1].next(1)
    origin[1].completed()
    cache.get(1).subscribe()
    #expect(memory.statistics.misses == 3 && memory.statistics.hits == 1)
    #expect(recorders.allSatisfy { $0.values == [1] } && origin[1].subscriptions == 1)
  }

  @Test(arguments: Composition.allCases)
  func `every get of several threads counts once`(composition: Composition) async throws {
    let cache = composition.cache(memory, over: Origin())
    let gets = Locked<[Recorder<Int>]>([])

    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for step in 0..<500 {
        let get = Recorder<Int>().subscribe(to: cache.get((step * 7 + thread) % 50))
        gets.withLock { $0.append(get) }
      }
    }
    for get in gets.withLock({ $0 }) { try await get.ended() }

    #expect(memory.statistics.hits + memory.statistics.misses == 2_000)
  }

  enum Refusal: CaseIterable {
    case undecodable, undecodableInTask, filtered, transformed, processed

    struct Refused: Error {}

    func cache(_ memory: MemoryCache<Int, Int>) -> AnyCache<Int, Int> {
      switch self {
      case .undecodable:
        AnyCache(memory.mapValues(encode: { $0 }, decode: { (_: Int) -> Int in throw Refused() }))
      case .undecodableInTask:
        AnyCache(
          memory.mapValues(
            Codec<Int, Int>.asynchronous(encode: { $0 }, decode: { _ in throw Refused() })))
      case .filtered: AnyCache(memory.filtered { _, _ in false })
      case .transformed: AnyCache(memory.mapValues { (_: Int) -> Int in throw Refused() })
      case .processed: AnyCache(memory.postProcessed { _, _ in throw Refused() })
      }
    }
  }

  @Test(arguments: Refusal.allCases, Way.allCases)
  func `a get of a value that is refused above the memory is one hit there`(
    refusal: Refusal, way: Way
  ) async {
    memory.set(1, for: 1)
    for (number, cache) in [
      refusal.cache(memory), AnyCache(refusal.cache(memory).reusingInFlight()),
      AnyCache(refusal.cache(memory).monitored(by: CacheMonitor())),
    ].enumerated() {
      await way.ask(cache, 1)
      #expect(memory.statistics.hits == number + 1 && memory.statistics.misses == 0)
    }
  }

  @Test func `an immediate answer that is refused counts as nothing`() {
    memory.set(1, for: 1)
    for refusal in Refusal.allCases {
      #expect(refusal.cache(memory).now(1) == nil)
      #expect(memory.statistics.hits == 0)
    }
  }

  @Test func `an event of an immediate value that a filter refuses is one hit`() {
    let monitor = CacheMonitor()
    memory.set(1, for: 1)
    memory.named("memory").filtered { _, _ in false }.monitored(by: monitor).get(1).subscribe()
    #expect(monitor.statistics["memory"]?.hits == 1)
  }

  @Test func `a reload is neither a hit nor a miss of what only stores`() {
    let (monitor, disk) = (CacheMonitor(), TestCache<Int, Int>())
    let layers = memory.named("memory").layered(over: disk.layered(over: Origin().named("origin")))
    let cache = AnyCache(layers.reusingInFlight()).monitored(by: monitor)
    memory.set(1, for: 1)

    cache.get(1, freshness: .reload).subscribe()

    #expect(Set(monitor.statistics.keys) == ["origin"])
    #expect(monitor.statistics["origin"]?.hits == 1)
    #expect(memory.statistics.hits == 0 && memory.statistics.misses == 0)

    disk.failGets(of: 1, with: CacheError.miss)
    cache.get(1, freshness: .reload).subscribe()
    #expect(monitor.statistics["TestCache"]?.failures == 1)
  }

  @Test func `an immediate answer that is not there counts as nothing`() {
    #expect(memory.now(1, Lookup()) == nil)
    #expect(memory.now(1, Lookup(freshness: .atMost(.seconds(1)))) == nil)
    #expect(memory.statistics == MemoryStatistics())
  }

  @Test func `the entries that are kept do not depend on the way of asking`() {
    let other = MemoryCache<Int, Int>(countLimit: 100)
    var generator = SeededGenerator(seed: 7)

    for _ in 0..<Effort.rounds(50_000, few: 15_000) {
      // Few keys are popular, most are not.
      let key = Int.random(in: 0..<2_000, using: &generator)
      let popular = key % 3 == 0 ? key : key % 150
      if memory.peek(popular) == nil { memory.layered(over: Origin()).get(popular).subscribe() }
      if other.peek(popular) == nil {
        other.layered(over: Origin()).getStamped(popular, Lookup()).subscribe()
      }
    }

    #expect(Set(memory.snapshot().map(\.key)) == Set(other.snapshot().map(\.key)))
  }

  @Test(arguments: Way.allCases)
  func `a monitor counts one get once in each layer`(way: Way) async {
    let monitor = CacheMonitor()
    let cache = AnyCache(
      memory.named("memory").layered(over: TestCache<Int, Int>().named("below")).reusingInFlight()
        .monitored(by: monitor))

    await way.ask(cache, 1)
    memory.set(1, for: 1)
    await way.ask(cache, 1)

    #expect(monitor.statistics["memory"]?.misses == 1)
    #expect(monitor.statistics["memory"]?.hits == 1)
    #expect(monitor.statistics["below"]?.misses == 1)
  }

  @Test(arguments: Way.allCases)
  func `a test cache notes one get once`(way: Way) async {
    let cache = TestCache<Int, Int>()

    await way.ask(AnyCache(MemoryCache(countLimit: 1).layered(over: cache)), 1)

    #expect(cache.gets == [1])
  }
}
