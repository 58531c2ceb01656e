import Dispatch
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct UpdateTests {
  struct Trouble: Error {}

  @Test func `an update stores what is made of the stored value, and sends it`() {
    let counters = MemoryCache<String, Int>(countLimit: 9).layered(over: TestCache())
    let counts = (1...3).map { _ in
      Recorder<Int?>().subscribe(to: counters.update("a") { ($0 ?? 0) + 1 })
    }

    #expect(counts.map(\.values) == [[1], [2], [3]])
    #expect(counters.now("a") == 3)
  }

  @Test func `nil removes the value, and an error leaves it as it is`() {
    let cache = MemoryCache<String, Int>(countLimit: 9)
    cache.set(1, for: "a")

    let failed = Recorder<Int?>().subscribe(to: cache.update("a") { _ in throw Trouble() })
    #expect(failed.failure is Trouble)
    #expect(cache.now("a") == 1)
    cache.update("a") { _ in nil }
    #expect(cache.now("a") == nil)
  }

  @Test func `no update is lost, whatever threads and wrappers they come through`() {
    let memory = MemoryCache<Int, Int>(countLimit: 9)
    let store = memory.layered(over: ImpoliteCache(TestCache<Int, Int>(), .storesLate))
    let caches: [AnyCache<Int, Int>] = [AnyCache(store), AnyCache(store.named("store"))]

    DispatchQueue.concurrentPerform(iterations: 400) { turn in
      caches[turn % 2].update(turn % 3) { ($0 ?? 0) + 1 }
    }

    #expect((0..<3).map { memory.now($0) } == [134, 133, 133])
  }

  @Test func `a set that comes while the stored value is read wins`() {
    let (origin, stored) = (TestSource<Int>(), Locked<[Int]>([]))
    let slow = AnyCache<String, Int>(
      get: { _ in origin.signal },
      set: { value, _ in
        stored.withLock { $0.append(value) }
        return .just(())
      })
    let cache = MemoryCache<String, Int>(countLimit: 9).layered(over: slow)
    let update = Recorder<Int?>().subscribe(to: cache.update("a") { ($0 ?? 0) + 1 })

    cache.set(70, for: "a")
    origin.next(1)
    origin.completed()

    #expect(update.values == [2])
    #expect(cache.now("a") == 70)
  }

  @Test func `updates of one key wait for each other, and those of others do not`() {
    let reading = TestOrigin<String, Int>()
    let cache = AnyCache<String, Int>(
      get: { reading.get($0, Lookup()) }, set: { _, _ in .just(()) })
    let updates = ["a", "a", "b"].map { key in
      Recorder<Int?>().subscribe(to: cache.update(key) { ($0 ?? 0) + 1 })
    }

    #expect(reading["a"].runs.count == 1)
    reading["b"].next(5)
    #expect(updates.map(\.values) == [[], [], [6]])
    reading["a"].next(1)
    #expect(reading["a"].runs.count == 2)
    reading["a"].next(2)
    #expect(updates.map(\.values) == [[2], [3], [6]])
  }

  @Test func `work that waits for its turn follows on constant stack`() {
    let turns = KeyTurns<String>()
    let first = TestSource<Void>()
    let done = Locked(0)
    turns.inTurn("a", first.signal).subscribe()
    for _ in 0..<20_000 {
      turns.inTurn("a", Signal<Void>.deferred { .just(done.withLock { $0 += 1 }) }).subscribe()
    }

    #expect(done.withLock { $0 } == 0)
    first.completed()

    #expect(done.withLock { $0 } == 20_000)
  }
}
