import MillpondCore
import MillpondSignals

/// Bulk operations of the memory cache.
func worstMemoryRows() -> [WorstRow] {
  [
    WorstRow(name: "worst-memory-set", summary: "n new keys in a memory cache without a limit") {
      count in
      let cache = MemoryCache<Int, Int>(countLimit: .max)
      return WorstCase {
        for key in 0..<count { cache.set(key, for: key) }
      } neighbour: {
        _ = cache.now(0, Lookup())
      } check: {
        cache.now(count - 1, Lookup()) == count - 1
      }
    },
    // A set takes 1,600 instructions with 10,000 keys and 2,500 with 100,000: from there on every
    // shard has several groups of equal hashes, whose buckets lie in one another's way.
    WorstRow(
      name: "worst-memory-stated",
      summary: "the same, with a thousand keys for each hash value",
      greatest: 100_000
    ) { count in
      let cache = MemoryCache<StatedKey, Int>(countLimit: .max)
      return WorstCase {
        for key in 0..<count { cache.set(key, for: StatedKey(number: key)) }
      } neighbour: {
        _ = cache.now(StatedKey(number: 0), Lookup())
      } check: {
        cache.now(StatedKey(number: count - 1), Lookup()) == count - 1
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
    WorstRow(
      name: "worst-memory-remembered",
      summary: "the removal of n keys, which are all remembered beside an earlier pending write"
    ) { count in
      let cache = MemoryCache<Int, Int>(countLimit: .max)
      let pending = PendingWrite(.next())
      return WorstCase {
        for key in 0..<count { cache.remove(key) }
      } neighbour: {
        cache.remove(-1)
      } check: {
        pending.end()
        return cache.count == 0
      }
    },
    WorstRow(
      name: "worst-memory-pending", summary: "n pending writes end, in no order"
    ) { count in
      var random = SystemRandomNumberGenerator()
      let writes = (0..<count).map { _ in PendingWrite(.next()) }.shuffled(using: &random)
      return WorstCase {
        for write in writes { write.end() }
      } neighbour: {
        PendingWrite(.next()).end()
      } check: {
        writes.count == count
      }
    },
    WorstRow(
      name: "worst-memory-expired", summary: "removeExpired of n values, none of which has expired"
    ) { count in
      let cache = MemoryCache<Int, Int>(countLimit: .max, timeToLive: .after(.seconds(3_600)))
      for key in 0..<count { cache.set(key, for: key) }
      return WorstCase {
        cache.removeExpired()
      } neighbour: {
        _ = cache.now(0, Lookup())
      } check: {
        cache.count == count
      }
    },
    WorstRow(
      name: "worst-memory-used",
      summary: "one new key in a full cache of n values that were all used",
      unit: .single
    ) { count in
      let cache = MemoryCache<Int, Int>(countLimit: count)
      for key in 0..<count { cache.set(key, for: key) }
      for _ in 0..<4 {
        for key in 0..<count { _ = cache.now(key, Lookup()) }
      }
      return WorstCase {
        cache.set(-1, for: -1)
      } neighbour: {
        _ = cache.now(0, Lookup())
      } check: {
        cache.count == count
      }
    },
  ]
}

extension WorstRow {
  /// Returns a row that releases all values of a memory cache.
  fileprivate static func emptying(
    _ name: String, _ summary: String,
    _ body: @escaping @Sendable (MemoryCache<Int, Int>, Int) -> Void
  ) -> WorstRow {
    WorstRow(name: "worst-memory-\(name)", summary: summary) { count in
      let cache = MemoryCache<Int, Int>(countLimit: .max)
      for key in 0..<count { cache.set(key, for: key) }
      return WorstCase {
        body(cache, count)
      } neighbour: {
        _ = cache.now(0, Lookup())
      } check: {
        cache.count == 0
      }
    }
  }
}

/// A key whose type states a hash of its own, which a thousand keys share.
struct StatedKey: Hashable, Sendable {
  let number: Int

  var hashValue: Int { number / 1_000 }

  func hash(into hasher: inout Hasher) {
    hasher.combine(number / 1_000)
  }
}
