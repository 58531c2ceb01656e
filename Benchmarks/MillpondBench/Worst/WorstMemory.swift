import MillpondCore
import MillpondSignals

/// Bulk operations of the memory cache, which waits for no more than a millisecond with a million
/// values.
func worstMemoryRows() -> [Row] {
  [
    .worst(
      "memory-set", "n new keys in a memory cache without a limit", greatest: 1_000_000, wait: 1
    ) { count in
      let cache = MemoryCache<Int, Int>(countLimit: .max)
      return WorstCase(neighbour: { _ = cache.now(0, Lookup()) }) {
        for key in 0..<count { cache.set(key, for: key) }
      } check: {
        cache.count == count
      }
    },
    .emptying("remove", "the removal of n values, one by one") { cache, count in
      for key in 0..<count { cache.remove(key) }
    },
    .emptying("remove-all", "removeAll of n values") { cache, _ in cache.removeAll() },
    .emptying("remove-where", "removeAll(where:) of n values, whose predicate admits them all") {
      cache, _ in _ = cache.removeAll { _ in true }
    },
    .emptying("trim", "trim(to: 0) of n values") { cache, _ in cache.trim(to: 0) },
    .emptying("relieve", "relieve(.critical) of n values") { cache, _ in cache.relieve(.critical) },
    .emptying("limit", "lowering the limit of n values to zero") { cache, _ in
      cache.countLimit = 0
    },
    .worst(
      "memory-expired", "removeExpired of n values, none of which has expired",
      greatest: 1_000_000, wait: 1
    ) { count in
      let cache = MemoryCache<Int, Int>(countLimit: .max, timeToLive: .after(.seconds(3_600)))
      for key in 0..<count { cache.set(key, for: key) }
      return WorstCase(neighbour: { _ = cache.now(0, Lookup()) }) {
        cache.removeExpired()
      } check: {
        cache.count == count
      }
    },
    .worst(
      "memory-used", "one new key in a full cache of n values that were all used", .single,
      greatest: 1_000_000, wait: 1
    ) { count in
      let cache = MemoryCache<Int, Int>(countLimit: count)
      for key in 0..<count { cache.set(key, for: key) }
      for _ in 0..<4 {
        for key in 0..<count { _ = cache.now(key, Lookup()) }
      }
      return WorstCase(neighbour: { _ = cache.now(0, Lookup()) }) {
        cache.set(-1, for: -1)
      } check: {
        cache.count == count
      }
    },
  ]
}

extension Row {
  /// Returns a row that releases all values of a memory cache.
  fileprivate static func emptying(
    _ name: String, _ summary: String,
    _ body: @escaping @Sendable (MemoryCache<Int, Int>, Int) -> Void
  ) -> Row {
    worst("memory-\(name)", summary, greatest: 1_000_000, wait: 1) { count in
      let cache = MemoryCache<Int, Int>(countLimit: .max)
      for key in 0..<count { cache.set(key, for: key) }
      return WorstCase(neighbour: { _ = cache.now(0, Lookup()) }) {
        body(cache, count)
      } check: {
        cache.count == 0
      }
    }
  }
}
