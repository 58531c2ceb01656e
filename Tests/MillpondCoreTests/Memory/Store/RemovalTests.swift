import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import MillpondCore

@Suite(.heavy) struct RemovalTests {
  typealias Gone = Recorder<String>

  /// The removals as key, value and cause.
  private func record(_ cache: MemoryCache<Int, Int>) -> Gone {
    Gone().subscribe(to: cache.removals.map { "\($0.key) \($0.value) \($0.cause)" })
  }

  @Test func `each value that goes is reported once, with value and cause`() {
    let clock = ManualClock()
    let cache = MemoryCache<Int, Int>(countLimit: 2, policy: .leastRecentlyUsed, clock: clock)
    let gone = record(cache)

    cache.set(10, for: 1)
    cache.set(11, for: 1)
    cache.set(20, for: 2)
    cache.set(30, for: 3)
    cache.remove(2)
    cache.set(40, for: 4, timeToLive: .after(.seconds(1)))
    clock.advance(by: .seconds(1))
    _ = cache.now(4, Lookup())
    cache.relieve(.critical)

    #expect(
      gone.values == [
        "1 10 replaced", "1 11 evicted", "2 20 removed", "4 40 expired", "3 30 pressure",
      ])
  }

  @Test func `a removal of nothing is not reported`() {
    let cache = MemoryCache<Int, Int>(countLimit: 2)
    let gone = record(cache)

    cache.remove(1)
    cache.removeAll()
    cache.removeExpired()
    cache.trim(to: 0)
    cache.set(1, for: 1, timeToLive: .after(.zero))
    _ = cache.now(1, Lookup())

    #expect(gone.values.isEmpty)
  }

  @Test func `earlier removals are not reported, and none is after the end`() {
    let cache = MemoryCache<Int, Int>(countLimit: 1)
    cache.set(0, for: 0)
    cache.remove(0)
    let gone = record(cache)
    #expect(cache.shards.removalListeners.isListening)

    cache.set(1, for: 1)
    cache.set(2, for: 2)
    gone.dispose()
    cache.set(3, for: 3)

    #expect(gone.values == ["1 1 evicted"])
    #expect(!cache.shards.removalListeners.isListening)
  }

  @Test func `all listeners are notified`() {
    let cache = MemoryCache<Int, Int>(countLimit: 1)
    let both = [record(cache), record(cache)]

    cache.set(1, for: 1)
    cache.remove(1)

    #expect(both.allSatisfy { $0.values == ["1 1 removed"] })
  }

  @Test func `the removals of a cache complete with its release, and do not keep it alive`() {
    var cache: MemoryCache<Int, Int>? = MemoryCache(countLimit: 1)
    weak let weakly = cache
    let removals = cache?.removals ?? .never
    let gone = Recorder<Removal<Int, Int>>().subscribe(to: removals)
    #expect(gone.end == nil)

    cache = nil

    #expect(weakly == nil)
    #expect(gone.isCompleted)
    let late = Recorder<Removal<Int, Int>>().subscribe(to: removals)
    #expect(late.transcript == ["completed"])
  }

  @Test func `the cache may be read and written by its own observers`() {
    let cache = MemoryCache<Int, Int>(countLimit: 1)
    let seen = Recorder<String>().subscribe(
      to: cache.removals.map { [unowned cache] removal in
        if removal.key < 5 { cache.set(0, for: removal.key + 2) }
        return "\(removal.key), \(cache.count) left"
      })

    cache.set(0, for: 0)
    cache.set(0, for: 1)

    #expect(seen.values.count == 6 && cache.count == 1)
    #expect(seen.values.allSatisfy { $0.hasSuffix("1 left") })
  }

  @Test func `an evicted value is reported before it is released`() {
    let living = Locked(0)
    let cache = MemoryCache<Int, Counted>(countLimit: 1)
    let seen = Recorder<Int>().subscribe(to: cache.removals.map { $0.value.number })
    cache.set(Counted(1, living), for: 1)

    cache.set(Counted(2, living), for: 2)

    #expect(seen.values == [1])
    #expect(living.withLock { $0 } == 1)
  }
}
