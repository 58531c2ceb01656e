import Dispatch
import MillpondSignals
import MillpondTesting
import Synchronization
import TestTraits
import Testing

@testable import MillpondCore

/// The view of several threads on one cache.
@Suite(.heavy) struct MemoryCacheThreadsTests {
  static let policies: [EvictionPolicy] = [.leastRecentlyUsed, .adaptive]
  static let threads = 4

  @Test(arguments: policies)
  func `all that threads see of a key fits one order of calls`(policy: EvictionPolicy) {
    let cache = MemoryCache<Int, Int>(countLimit: 4_000, policy: policy)

    for round in 0..<300 {
      let keys = round * 3..<round * 3 + 3
      let histories = record(keys, round, in: cache) { _, _ in }
      expectOrder(histories, evicts: false, round)
    }

    #expect(cache.shards.flaw() == nil)
  }

  @Test(arguments: policies)
  func `one order also holds while one store becomes sixteen`(policy: EvictionPolicy) {
    for round in 0..<Effort.rounds(8, few: 3) {
      let cache = MemoryCache<Int, Int>(countLimit: 100_000, policy: policy)
      for key in 1_000..<5_070 { cache.set(key, for: key) }

      let histories = record(0..<3, round, in: cache) { thread, step in
        cache.set(0, for: 10_000 + thread * 100 + step)
      }

      expectOrder(histories, evicts: false, round)
      #expect(cache.shards.mask.load(ordering: .relaxed) == 15)
      #expect(cache.shards.flaw() == nil)
    }
  }

  @Test(arguments: policies)
  func `one order also holds while values may be evicted at any time`(policy: EvictionPolicy) {
    for round in 0..<80 {
      let cache = MemoryCache<Int, Int>(countLimit: 4, policy: policy)
      let histories = record(0..<3, round, in: cache) { thread, step in
        cache.set(0, for: 1_000 + thread * 100 + step)
      }
      expectOrder(histories, evicts: true, round)
      #expect(cache.shards.flaw() == nil)
    }
  }

  @Test(arguments: policies)
  func `a removed value does not come back without a set`(policy: EvictionPolicy) {
    let cache = MemoryCache<Int, Int>(countLimit: 6, policy: policy)
    let returns = Atomic<Int>(0)

    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      var seen: [[Int?]] = [[], [], []]
      for step in 0..<5_000 {
        if thread == 0 {
          cache.set(step, for: step % 3)
        } else {
          seen[step % 3].append(cache.now(step % 3, Lookup()))
          cache.set(0, for: 100 * thread + step % 7)
        }
      }
      returns.add(seen.filter(cameBack).count, ordering: .relaxed)
    }

    #expect(returns.load(ordering: .relaxed) == 0)
  }

  @Test func `limits may change while others set and ask`() {
    let cache = MemoryCache<Int, Int>(costLimit: 30_000, countLimit: 8_000, cost: { $0 & 7 })

    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      for step in 0..<4_000 {
        let key = (step &* 7_919 + thread * 31) % 12_000
        switch step % 400 {
        case 0 where thread == 0: cache.countLimit = 2_000 + step
        case 1 where thread == 1: cache.costLimit = 10_000 + step * 2
        case 2 where thread == 2: cache.trim(to: 0.9)
        case 3 where thread == 3: cache.relieve(.warning)
        case 4: cache.removeExpired()
        case 5 where thread == 0: cache.removeAll()
        default: cache.set(step, for: key)
        }
        _ = cache.now(key / 2, Lookup())
      }
    }

    #expect(cache.shards.flaw() == nil)
    #expect(cache.count <= cache.countLimit && cache.totalCost <= cache.costLimit)
  }

  @Test(arguments: [1_000, 5_000])
  func `a snapshot that others write into has no key twice, and only what was set`(count: Int) {
    let cache = MemoryCache<Int, Int>(countLimit: count)
    let wrongs = Atomic<Int>(0)

    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      for step in 0..<(thread == 0 ? 15 : 3_000) {
        guard thread == 0 else {
          cache.set(step * 2, for: step * thread)
          continue
        }
        let all = cache.snapshot()
        let isRight = Set(all.map(\.key)).count == all.count && all.allSatisfy { $0.value % 2 == 0 }
        if !isRight || all.count > count { wrongs.add(1, ordering: .relaxed) }
      }
    }

    #expect(wrongs.load(ordering: .relaxed) == 0)
  }

  @Test func `a get is either a hit or a miss, with every kind of caller`() {
    let cache = MemoryCache<Int, Int>(countLimit: 5_000)

    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      for step in 0..<3_000 {
        cache.set(step, for: step * 4 + thread)
        cache.get(step).subscribe()
      }
    }

    let statistics = cache.statistics
    #expect(statistics.hits + statistics.misses == 12_000)
    #expect(statistics.insertions == 12_000 && statistics.evictions == 7_000)
    #expect(cache.count == 5_000)
  }

  @Test(arguments: policies)
  func `a value is taken in even where others have just made the only room`(
    policy: EvictionPolicy
  ) {
    let cache = MemoryCache<Int, Int>(costLimit: 10, countLimit: 1, policy: policy, cost: { $0 })

    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      for step in 0..<5_000 {
        cache.set(step % 10, for: thread)
        if step % 3 > 0 { cache.remove(thread) }
        if step % 100 == 0 { cache.trim(to: 0) }
        if step % 100 == 50 { cache.removeExpired() }
      }
    }

    let statistics = cache.statistics
    #expect(statistics.insertions + statistics.rejections == 20_000)
    #expect(cache.shards.flaw() == nil)
  }

  @Test(arguments: policies)
  func `a large value is taken in even where others make room for theirs`(policy: EvictionPolicy) {
    let cache = MemoryCache<Int, Int>(costLimit: 30, policy: policy, cost: { $0 })
    for key in 10_000..<14_200 { cache.set(0, for: key) }

    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      for step in 0..<4_000 {
        cache.set(10 + step % 20, for: thread * 100 + step % 100)
        if cache.totalCost > 30 { Issue.record("they cost too much") }
      }
    }

    let statistics = cache.statistics
    #expect(statistics.insertions + statistics.rejections == 20_200)
    #expect(policy != .leastRecentlyUsed || statistics.rejections == 0)
    #expect(cache.shards.flaw() == nil)
  }

  @Test func `a value gets its room even if others take what is free again and again`() {
    let cache = MemoryCache<Int, Int>(
      costLimit: 30, policy: .leastRecentlyUsed, cost: { $0 })
    for key in 10_000..<14_200 { cache.set(0, for: key) }
    for key in 0..<30 { cache.set(1, for: key) }
    let (key, hash) = (50_000, MemoryHash(50_000))
    let details = MemoryDetails(cost: 29, bornAt: 0, deadline: .max, revision: .next())
    var attempts = 0

    let isKept = cache.shards.put(hash, cost: 29, 0) { store, move in
      // Others hold all free room at every attempt.
      attempts += 1
      var (own, taken) = (MemorySpace(), 0)
      while cache.shards.budget.reserve(1, from: &own) { taken += 1 }
      defer { cache.shards.budget.release(MemorySpace(count: taken, cost: taken)) }
      return store.set(key, hash, 29, nil, details, &move)
    }

    #expect(isKept && cache.peek(key) == 29)
    #expect(attempts < 10)
    #expect(cache.totalCost <= 30)
    #expect(cache.statistics.rejections == 0)
    #expect(cache.shards.flaw() == nil)
  }

  @Test func `a limit that is lowered is kept from then on`() {
    let cache = MemoryCache<Int, Int>(countLimit: 100)
    let excess = Atomic<Int>(0)

    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      for step in 0..<Effort.rounds(10_000, few: 3_000) {
        if thread == 0 {
          cache.countLimit = 100
          for _ in 0..<5 { cache.set(step, for: step) }
          cache.countLimit = 10
          for _ in 0..<5 where cache.count > 10 { excess.add(1, ordering: .relaxed) }
        } else {
          cache.set(step, for: step * 4 + thread)
        }
      }
    }

    #expect(excess.load(ordering: .relaxed) == 0)
  }

  // MARK: Scenes

  /// Records the operations of four threads on the keys, with `aside` after each.
  private func record(
    _ keys: Range<Int>, _ round: Int, in cache: MemoryCache<Int, Int>,
    aside: @Sendable (_ thread: Int, _ step: Int) -> Void
  ) -> [Int: KeyHistory] {
    let time = KeyHistoryTime()
    let all = Locked<[Int: KeyHistory]>([:])
    let waiting = Atomic<Int>(Self.threads)
    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      var random = SeededGenerator(seed: UInt64(round * 10 + thread))
      var writer = KeyHistoryWriter(time)
      waiting.subtract(1, ordering: .relaxed)
      // A bounded wait, so that all threads start together if there are enough of them.
      for _ in 0..<10_000 where waiting.load(ordering: .relaxed) > 0 {}
      for step in 0..<15 {
        let key = keys.randomElement(using: &random) ?? 0
        let value = (round * 10 + thread) * 100 + step
        writer.write(key) { act(on: key, value, in: cache, &random) }
        aside(thread, step)
      }
      all.withLock { $0.merge(writer.histories) { KeyHistory(events: $0.events + $1.events) } }
    }
    return all.withLock { $0 }
  }

  private func act(
    on key: Int, _ value: Int, in cache: MemoryCache<Int, Int>, _ random: inout SeededGenerator
  ) -> KeyAction {
    switch Int.random(in: 0..<5, using: &random) {
    case 0...1:
      cache.set(value, for: key)
      return .set(value)
    case 2:
      cache.remove(key)
      return .remove
    default: return .get(cache.now(key, Lookup()))
    }
  }

  private func expectOrder(_ histories: [Int: KeyHistory], evicts: Bool, _ round: Int) {
    for (key, history) in histories where !history.isInOrder(evicts: evicts) {
      Issue.record("round \(round), key \(key): \(history.events)")
    }
  }
}
