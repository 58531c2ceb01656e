import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

@Suite struct MemoryCacheTests {
  private func value<Value>(_ key: String, in cache: MemoryCache<String, Value>) -> Value? {
    cache.now(key, Lookup())
  }

  @Test func `a set value is stored, and a removed one is not`() {
    let cache = MemoryCache<String, Int>(countLimit: 10)

    cache.set(1, for: "a")
    #expect(value("a", in: cache) == 1)

    cache.remove("a")
    #expect(value("a", in: cache) == nil)
    #expect(cache.count == 0)
  }

  @Test func `a hit sends the value and completes, a miss completes empty`() {
    let cache = MemoryCache<String, Int>(countLimit: 10)
    cache.set(1, for: "a")

    let hit = Recorder<Int>().subscribe(to: cache.get("a", Lookup()))
    let miss = Recorder<Int>().subscribe(to: cache.get("b", Lookup()))

    #expect(hit.transcript == ["next 1", "completed"])
    #expect(miss.transcript == ["completed"])
  }

  @Test func `beyond the count the least recently used goes, if that is the policy`() {
    let cache = MemoryCache<String, Int>(countLimit: 2, policy: .leastRecentlyUsed)
    cache.set(1, for: "a")
    cache.set(2, for: "b")
    _ = value("a", in: cache)

    cache.set(3, for: "c")

    #expect(value("a", in: cache) == 1)
    #expect(value("b", in: cache) == nil)
    #expect(value("c", in: cache) == 3)
  }

  @Test func `beyond the cost as many go as are needed`() {
    let cache = MemoryCache<String, Int>(
      costLimit: 10, policy: .leastRecentlyUsed, cost: { $0 })
    for (key, cost) in [("a", 4), ("b", 3), ("c", 3)] { cache.set(cost, for: key) }

    cache.set(5, for: "d")

    #expect(value("a", in: cache) == nil && value("b", in: cache) == nil)
    #expect(value("c", in: cache) == 3 && value("d", in: cache) == 5)
    #expect(cache.totalCost == 8)
  }

  @Test func `two values of the greatest cost do not overflow the total`() {
    let cache = MemoryCache<String, Int>(
      costLimit: .max, policy: .leastRecentlyUsed, cost: { _ in .max })

    cache.set(1, for: "a")
    cache.set(2, for: "b")

    #expect(cache.count == 1 && cache.totalCost == .max)
    #expect(value("b", in: cache) == 2)
  }

  @Test func `a negative cost counts as zero`() {
    let cache = MemoryCache<String, Int>(costLimit: 5, cost: { $0 })

    cache.set(-7, for: "a")
    cache.set(5, for: "b")

    #expect(cache.count == 2 && cache.totalCost == 5)
  }

  @Test func `a value that costs more than the limit is not stored, and the others stay`() {
    let cache = MemoryCache<String, Int>(costLimit: 5, cost: { $0 })
    cache.set(2, for: "a")
    cache.set(2, for: "b")

    cache.set(6, for: "b")

    #expect(value("a", in: cache) == 2)
    #expect(value("b", in: cache) == nil)
  }

  @Test(arguments: [0, -1])
  func `a cache with a limit of zero or less always misses`(limit: Int) {
    let cache = MemoryCache<String, Int>(countLimit: limit)

    cache.set(1, for: "a")

    #expect(value("a", in: cache) == nil && cache.count == 0)
  }

  @Test func `an overwritten value's cost no longer counts`() {
    let cache = MemoryCache<String, Int>(costLimit: 100, cost: { $0 })

    for cost in [10, 20, 30] { cache.set(cost, for: "a") }

    #expect(cache.totalCost == 30 && cache.count == 1)
  }

  @Test func `eight threads that set at once never exceed the limit`() {
    let cache = MemoryCache<Int, Int>(costLimit: 1_000, cost: { $0 })
    let excess = Atomic<Int>(0)

    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for step in 0..<2_000 {
        cache.set(1 + (step * 7 + thread) % 50, for: step % 400)
        if cache.totalCost > 1_000 { excess.add(1, ordering: .relaxed) }
        if step % 5 == 0 { cache.remove(step % 300) }
      }
    }

    #expect(excess.load(ordering: .relaxed) == 0)
  }

  struct Awkward: Hashable {
    let number: Int

    func hash(into hasher: inout Hasher) {}
  }

  @Test func `a thousand keys that all hash alike stay apart`() {
    let cache = MemoryCache<Awkward, Int>(countLimit: 500)

    for number in 0..<1_000 { cache.set(number, for: Awkward(number: number)) }

    #expect(cache.count == 500)
    #expect(cache.now(Awkward(number: 999), Lookup()) == 999)
    #expect(cache.now(Awkward(number: 499), Lookup()) == nil)
  }

  @Test func `a NaN key is never found, and takes no room`() {
    let cache = MemoryCache<Double, Int>(countLimit: 3)

    for number in 0..<10 { cache.set(number, for: .nan) }
    cache.set(1, for: 1)

    #expect(cache.now(.nan, Lookup()) == nil)
    #expect(cache.count == 1 && cache.now(1, Lookup()) == 1)
  }

  @Test func `a value older than the caller wants is a miss, and stays`() {
    let clock = ManualClock()
    let cache = MemoryCache<String, Int>(countLimit: 10, clock: clock)
    cache.set(1, for: "a")
    clock.advance(by: .seconds(10))

    #expect(cache.now("a", Lookup(freshness: .atMost(.seconds(9)))) == nil)
    #expect(cache.now("a", Lookup(freshness: .atMost(.seconds(10)))) == 1)
    #expect(cache.now("a", Lookup(freshness: .reload)) == nil)
    #expect(cache.now("a", Lookup(freshness: .cachedOnly)) == 1)
  }

  /// A value that sets again when it is released, which deadlocks under the cache's lock.
  final class Vengeful: Sendable {
    let cache: MemoryCache<String, Vengeful>
    let released: PublishSubject<String>

    init(_ cache: MemoryCache<String, Vengeful>, _ released: PublishSubject<String>) {
      self.cache = cache
      self.released = released
    }

    deinit {
      released.next("count \(cache.count)")
    }
  }

  @Test func `a value that calls its cache when it is released meets no lock`() {
    let cache = MemoryCache<String, Vengeful>(countLimit: 1)
    let released = PublishSubject<String>()
    let recorder = Recorder<String>().subscribe(to: released.signal)

    cache.set(Vengeful(cache, released), for: "a")
    cache.set(Vengeful(cache, released), for: "a")
    cache.set(Vengeful(cache, released), for: "b")
    cache.remove("b")
    cache.set(Vengeful(cache, released), for: "c")
    cache.removeAll()

    #expect(recorder.values == ["count 1", "count 1", "count 0", "count 0"])
  }
}
