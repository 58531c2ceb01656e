import Foundation
import Millpond
import MillpondEntities
import MillpondSignals

/// The memory of waiting gets, and of what large removals leave.
func worstByteRows() -> [WorstRow] {
  [
    .waiting("flight", "a get that runs and is shared", costTarget: 1_000) {
      let source = NeverSource().reusingInFlight()
      return { source.get($0).subscribe() }
    },
    .waiting("joiner", "a get that joins a running one", costTarget: 200) {
      let source = NeverSource().reusingInFlight()
      return { _ in source.get(0).subscribe() }
    },
    .waiting("limited", "a get that waits for a slot", costTarget: 800) {
      let source = NeverSource().limited(to: 1)
      return { source.get($0).subscribe() }
    },
    .waiting("rate-limited", "a get that waits for its turn", costTarget: 400) {
      let source = NeverSource().rateLimited(to: 1, per: .seconds(3_600))
      return { source.get($0).subscribe() }
    },
    .waiting("states", "one of n watchers of the states of a key", costTarget: 500) {
      let source = NeverSource().remembered(
        in: MemoryCache<Int, Int>(countLimit: 10), FreshnessPolicy(freshFor: .forever))
      return { _ in source.states(of: 0).subscribe() }
    },
    .waiting("states-alone", "the only watcher of the states of a key") {
      let source = NeverSource().remembered(
        in: MemoryCache<Int, Int>(countLimit: 10), FreshnessPolicy(freshFor: .forever))
      return { source.states(of: $0).subscribe() }
    },
    .kept("memory-set", "a value in a memory cache") { cache, count in
      for key in 0..<count { cache.set(key, for: key) }
    },
    .kept("memory-left", "a value that is left when 15 of 16 are removed") { cache, count in
      for key in 0..<16 * count { cache.set(key, for: key) }
      for key in 0..<16 * count where !key.isMultiple(of: 16) { cache.remove(key) }
    },
    .kept("memory-trimmed", "a value that is left when a cache of 16 times as many is trimmed") {
      cache, count in
      for key in 0..<16 * count { cache.set(key, for: key) }
      cache.trim(to: 1 / 16)
    },
    .kept("memory-churn", "a value after 100 times as many were set and removed") { cache, count in
      for key in 0..<100 * count {
        cache.set(key, for: key)
        if key >= count { cache.remove(key - count) }
      }
    },
    .keptOnDisk("disk-set", "a value in the index of a disk cache") { disk, count in
      try disk.fill(0..<count)
    },
    .keptOnDisk("disk-left", "a value that is left on disk when 15 of 16 are removed") {
      disk, count in
      try disk.fill(0..<16 * count)
      try disk.remove((0..<16 * count).filter { !$0.isMultiple(of: 16) })
    },
    .keptOnDisk("disk-churn", "a value on disk after 16 times as many were set and removed") {
      disk, count in
      for round in 0..<16 {
        try disk.fill(round * count..<(round + 1) * count)
        if round > 0 { try disk.remove(Array((round - 1) * count..<round * count)) }
      }
    },
    .keptEntities("entities-set", "an entity that refers to another") { store, count in
      store.update { parts in
        for id in 0..<count { parts.set(Part(id: id, first: Reference(id))) }
      }
    },
    .keptEntities("entities-left", "an entity that is left when 15 of 16 are removed") {
      store, count in
      store.update { parts in
        for id in 0..<16 * count { parts.set(Part(id: id, first: Reference(id))) }
      }
      store.update { parts in
        for id in 0..<16 * count where !id.isMultiple(of: 16) {
          parts.remove(Reference<Part>(id))
        }
      }
    },
  ]
}

extension WorstRow {
  /// Returns a row about the memory of n subscriptions.
  fileprivate static func waiting(
    _ name: String, _ summary: String, costTarget: Double? = nil,
    _ prepare: @escaping @Sendable () -> (Int) -> Disposable
  ) -> WorstRow {
    WorstRow(
      name: "worst-bytes-\(name)", summary: "memory: \(summary)", unit: .bytes, greatest: 100_000,
      costTarget: costTarget
    ) { count in
      let subscribe = prepare()
      var subscriptions: [Disposable] = []
      subscriptions.reserveCapacity(count)
      return WorstCase {
        for number in 0..<count { subscriptions.append(subscribe(number)) }
      } neighbour: {
      } check: {
        let isRight = subscriptions.count == count
        while let last = subscriptions.popLast() { last.dispose() }
        return isRight
      }
    }
  }

  /// Returns a row about the memory of n values that a cache keeps after `fill`.
  fileprivate static func kept(
    _ name: String, _ summary: String,
    _ fill: @escaping @Sendable (MemoryCache<Int, Int>, Int) -> Void
  ) -> WorstRow {
    WorstRow(
      name: "worst-bytes-\(name)", summary: "memory: \(summary)", unit: .bytes, greatest: 100_000
    ) { count in
      var cache: MemoryCache<Int, Int>?
      return WorstCase {
        let made = MemoryCache<Int, Int>(countLimit: .max)
        cache = made
        fill(made, count)
      } neighbour: {
      } check: {
        // A share is rounded down in each shard.
        cache.map { $0.count <= count && $0.count > count * 9 / 10 } ?? false
      }
    }
  }

  fileprivate static func keptOnDisk(
    _ name: String, _ summary: String,
    _ fill: @escaping @Sendable (WorstFolder, Int) throws -> Void
  ) -> WorstRow {
    WorstRow(
      name: "worst-bytes-\(name)", summary: "memory: \(summary)", unit: .bytes, greatest: 100_000
    ) { count in
      let disk = try WorstFolder()
      return WorstCase {
        try fill(disk, count)
      } neighbour: {
      } check: {
        try disk.end(holding: count)
      }
    }
  }

  fileprivate static func keptEntities(
    _ name: String, _ summary: String,
    _ fill: @escaping @Sendable (EntityStore, Int) -> Void
  ) -> WorstRow {
    WorstRow(
      name: "worst-bytes-\(name)", summary: "memory: \(summary)", unit: .bytes, greatest: 100_000
    ) { count in
      let store = EntityStore()
      return WorstCase {
        fill(store, count)
      } neighbour: {
      } check: {
        store.count == count
      }
    }
  }
}

extension WorstFolder {
  /// Sets short values, and waits until they are written.
  fileprivate func fill(_ keys: Range<Int>) throws {
    for key in keys { cache.set(Data([1]), for: "\(key)") }
    try awaited(cache.flush())
  }

  fileprivate func remove(_ keys: [Int]) throws {
    for key in keys { cache.remove("\(key)") }
    try awaited(cache.flush())
  }
}
