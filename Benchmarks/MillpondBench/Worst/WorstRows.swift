import Foundation
import Millpond
import MillpondEntities
import MillpondSignals

/// Returns the rows about worst cases: how the cost of an operation grows with the number of things,
/// and how long another thread waits meanwhile, up to the sizes for which that is promised.
func worstRows() -> [Row] {
  let floor = Row.worst(
    "floor", "an addition under a lock that is never held for a microsecond", greatest: 1_000_000,
    wait: nil
  ) { count in
    let sum = Locked(0)
    return WorstCase(neighbour: { sum.withLock { $0 += 0 } }) {
      for _ in 0..<count { sum.withLock { for _ in 0..<100 { $0 += 1 } } }
    } check: {
      sum.withLock { $0 == 100 * count }
    }
  }
  return [floor] + worstMemoryRows() + worstFlightRows() + worstEntityRows() + worstDiskRows()
}

// MARK: Memory

/// A million values; others wait no longer than a millisecond.
private func worstMemoryRows() -> [Row] {
  [
    .memory("set", "a new key in a cache of n values", left: { 2 * $0 }) { cache, count in
      for key in count..<2 * count { cache.set(key, for: key) }
    },
    .memory("remove", "removeAll(where:) of all values", left: { _ in 0 }) { cache, _ in
      _ = cache.removeAll { _ in true }
    },
    .memory("expired", "removeExpired of values, none of which has expired") { cache, _ in
      cache.removeExpired()
    },
    .memory("used", "a new key in a full cache of values that were all used", isSingle: true) {
      cache, _ in cache.set(-1, for: -1)
    },
  ]
}

extension Row {
  /// - Parameter left: Returns the number of values that are left of so many.
  fileprivate static func memory(
    _ name: String, _ summary: String, isSingle: Bool = false,
    left: @escaping @Sendable (Int) -> Int = { $0 },
    _ body: @escaping @Sendable (MemoryCache<Int, Int>, Int) -> Void
  ) -> Row {
    worst("memory-\(name)", summary, greatest: 1_000_000, wait: 1, isSingle: isSingle) { count in
      let cache = MemoryCache<Int, Int>(
        countLimit: isSingle ? count : .max, timeToLive: .after(.seconds(3_600)))
      for key in 0..<count { cache.set(key, for: key) }
      for _ in 0..<4 {
        for key in 0..<count { _ = cache.now(key, Lookup()) }
      }
      return WorstCase(neighbour: { _ = cache.now(0, Lookup()) }) {
        body(cache, count)
      } check: {
        cache.count == left(count)
      }
    }
  }
}

// MARK: Flights

/// Ten thousand running gets, or callers that wait for a limit; others wait no longer than a
/// millisecond.
private func worstFlightRows() -> [Row] {
  let never = FunctionSource<Int, Int>.signal { _ in .never }
  return [
    .flights("leave", "a caller that leaves its flight") {
      let source = never.reusingInFlight()
      return ({ source.get($0) }, {})
    },
    .flights("joiners", "a caller that leaves a flight of all") {
      let source = never.reusingInFlight()
      return ({ source.get(min($0, 0)) }, {})
    },
    .flights("detach", "a removal of all that detaches flights, and their end") {
      let source = MemoryCache(countLimit: 10).layered(over: never).reusingInFlight()
      return ({ source.get($0) }, { source.removeAll() })
    },
    .flights("limited", "a get that waits for a slot and ends at once") {
      let first = PublishSubject<Int>()
      let source = FunctionSource.signal { (key: Int) in key == 0 ? first.signal : .just(key) }
        .limited(to: 1)
      return ({ source.get($0) }, { first.completed() })
    },
  ]
}

extension Row {
  /// Returns a row of running gets that end in bulk, the last first, while others come and leave.
  ///
  /// - Parameter make: Returns the get of each number, of which -1 is that of the others, and what
  ///   happens before the end.
  fileprivate static func flights(
    _ name: String, _ summary: String,
    _ make:
      @escaping @Sendable () -> (
        get: @Sendable (Int) -> Signal<Int>, beforeEnd: @Sendable () -> Void
      )
  ) -> Row {
    worst("flights-\(name)", summary, greatest: 10_000, wait: 1) { count in
      let (get, beforeEnd) = make()
      let gets = Kept((0..<count).map { get($0).subscribe() })
      return WorstCase(neighbour: { get(-1).subscribe().dispose() }) {
        beforeEnd()
        while let last = gets.value.popLast() { last.dispose() }
      } check: {
        gets.value.isEmpty
      }
    }
  }
}

// MARK: Entities

/// Ten thousand entities in a commit, or a hundred thousand in a store; others wait no longer than
/// 8 ms.
private func worstEntityRows() -> [Row] {
  [
    .entities("query", "an entity in an update of a sorted live query", greatest: 10_000) { count in
      let store = EntityStore(count) { Part(id: $0) }
      let query = store.query(Part.self, by: { ($0.revision, $0.id) < ($1.revision, $1.id) })
      let notices = Sum()
      query.values.subscribe(onNext: { notices.add($0.count) })
      return (store, { store.setParts(count, revision: -1) }, { notices.take() == 2 * count })
    },
    .entities(
      "referrers", "a set of an observed entity with n unobserved references to it",
      greatest: 100_000, isSingle: true
    ) { count in
      let store = EntityStore(count) { Part(id: $0 + 1, first: Reference(0)) }
      let notices = store.noticesOfFirst()
      return (store, { store.set(Part(id: 0, revision: 1)) }, { notices.take() == 1 })
    },
    .entities(
      "limit", "a set beyond the limit of n, which evicts a sixteenth", greatest: 100_000
    ) { count in
      let store = EntityStore(countLimit: count)
      store.setParts(count)
      return (store, { store.set(Part(id: count)) }, { store.count <= count })
    },
  ]
}

extension EntityStore {
  fileprivate func setParts(_ count: Int, revision: Int = 0) {
    update { parts in
      for id in 0..<count { parts.set(Part(id: id, revision: revision * id)) }
    }
  }
}

extension Row {
  /// Returns a row of work on a store which others read meanwhile.
  fileprivate static func entities(
    _ name: String, _ summary: String, greatest: Int, isSingle: Bool = false,
    _ make:
      @escaping @Sendable (Int) -> (
        store: EntityStore, body: @Sendable () -> Void, check: @Sendable () -> Bool
      )
  ) -> Row {
    worst("entities-\(name)", summary, greatest: greatest, wait: 8, isSingle: isSingle) { count in
      let (store, body, check) = make(count)
      return WorstCase(
        neighbour: { _ = store.get(Reference<Part>(1)) }, body: body, check: check)
    }
  }
}

// MARK: Disk

/// Two hundred thousand values on disk; others, who look a key up in the index, wait no longer than
/// 8 ms.
private func worstDiskRows() -> [Row] {
  [("set", "a new key on disk"), ("remove", "a value in removeAll(where:) of all")].map {
    name, summary in
    .worst("disk-\(name)", summary, greatest: 200_000, wait: 8) { count in
      let dataset = DiskDataset(size: 16, count: count)
      let folder = try WorkFolder(in: FileManager.default.temporaryDirectory.path)
      let disk = try MillpondDisk(folder: folder.path)
      let isSet = name == "set"
      if !isSet { try disk.put(dataset) }
      return WorstCase(neighbour: { disk.cache.contains("none").subscribe() }) {
        if isSet { try disk.put(dataset) } else { try awaited(disk.cache.removeAll { _ in true }) }
      } check: {
        defer { folder.clear() }
        let left = try disk.count()
        try disk.close()
        return left == (isSet ? count : 0)
      }
    }
  }
}
