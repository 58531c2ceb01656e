import Foundation
import Millpond
import MillpondEntities
import MillpondSignals

/// The memory of waiting gets, and of what large removals leave.
func worstByteRows() -> [Row] {
  [
    .waiting("flight", "a get that runs and is shared", 1_000) {
      let source = NeverSource().reusingInFlight()
      return { source.get($0).subscribe() }
    },
    .waiting("joiner", "a get that joins a running one", 200) {
      let source = NeverSource().reusingInFlight()
      return { _ in source.get(0).subscribe() }
    },
    .waiting("limited", "a get that waits for a slot", 800) {
      let source = NeverSource().limited(to: 1)
      return { source.get($0).subscribe() }
    },
    .waiting("rate-limited", "a get that waits for its turn", 400) {
      let source = NeverSource().rateLimited(to: 1, per: .seconds(3_600))
      return { source.get($0).subscribe() }
    },
    .waiting("states", "one of n watchers of the states of a key", 500) {
      let source = NeverSource().remembered(
        in: MemoryCache<Int, Int>(countLimit: 10), FreshnessPolicy(freshFor: .forever))
      return { _ in source.states(of: 0).subscribe() }
    },
    .worst(
      "bytes-memory-left", "memory: a value that is left when 15 of 16 are removed", .bytes,
      greatest: 100_000
    ) { count in
      let cache = MemoryCache<Int, Int>(countLimit: .max)
      return WorstCase {
        for key in 0..<16 * count { cache.set(key, for: key) }
        for key in 0..<16 * count where !key.isMultiple(of: 16) { cache.remove(key) }
      } check: {
        cache.count == count
      }
    },
    .worst(
      "bytes-disk-left", "memory: a value that is left on disk when 15 of 16 are removed", .bytes,
      greatest: 100_000
    ) { count in
      let folder = try WorkFolder(in: FileManager.default.temporaryDirectory.path)
      let disk = try MillpondDisk(folder: folder.path)
      return WorstCase {
        for key in 0..<16 * count { disk.cache.set(Data([1]), for: "\(key)") }
        try awaited(disk.cache.flush())
        for key in 0..<16 * count where !key.isMultiple(of: 16) { disk.cache.remove("\(key)") }
        try awaited(disk.cache.flush())
      } check: {
        defer { folder.clear() }
        let left = try disk.count()
        try disk.close()
        return left == count
      }
    },
    .worst(
      "bytes-entities-left", "memory: an entity that is left when 15 of 16 are removed", .bytes,
      greatest: 100_000
    ) { count in
      let store = EntityStore()
      return WorstCase {
        store.update { parts in
          for id in 0..<16 * count { parts.set(Part(id: id, first: Reference(id))) }
        }
        store.update { parts in
          for id in 0..<16 * count where !id.isMultiple(of: 16) {
            parts.remove(Reference<Part>(id))
          }
        }
      } check: {
        store.count == count
      }
    },
  ]
}

extension Row {
  /// Returns a row about the memory of n subscriptions.
  fileprivate static func waiting(
    _ name: String, _ summary: String, _ target: Double,
    _ prepare: @escaping () -> (Int) -> Disposable
  ) -> Row {
    worst(
      "bytes-\(name)", "memory: \(summary)", .bytes, greatest: 10_000, target: target
    ) { count in
      let subscribe = prepare()
      var subscriptions: [Disposable] = []
      subscriptions.reserveCapacity(count)
      return WorstCase {
        for number in 0..<count { subscriptions.append(subscribe(number)) }
      } check: {
        let isRight = subscriptions.count == count
        while let last = subscriptions.popLast() { last.dispose() }
        return isRight
      }
    }
  }
}
