import Dispatch
import MillpondSignals
import MillpondTesting
import Synchronization
import TestTraits
import Testing

@testable import MillpondCore

/// Faults of the memory tier, under each policy; see also `MemoryCacheTests`.
@Suite(.heavy) struct MemoryFaultTests {
  static let policies = MemoryCacheLimitsTests.policies

  @Test(arguments: policies)
  func `two values of the greatest cost do not overflow the total under any policy`(
    policy: EvictionPolicy
  ) {
    let cache = MemoryCache<Int, Int>(costLimit: .max, policy: policy, cost: { _ in .max })

    for key in 0..<10 { cache.set(1, for: key % 3) }
    for _ in 0..<20 { _ = cache.now(7, Lookup()) }
    cache.set(1, for: 7)

    #expect(cache.count == 1 && cache.totalCost == .max && cache.shards.flaw() == nil)
    cache.relieve(.warning)
    #expect(cache.totalCost == 0)
  }

  @Test(arguments: policies)
  func `values without a positive cost are limited by their number only`(policy: EvictionPolicy) {
    let cache = MemoryCache<Int, Int>(
      costLimit: 0, countLimit: 5, policy: policy, cost: { _ in .min })

    for key in 0..<10 { cache.set(1, for: key) }

    #expect(cache.count == 5 && cache.totalCost == 0 && cache.shards.flaw() == nil)
  }

  @Test(arguments: policies)
  func `a value over the cost limit removes its own key's value and no other`(
    policy: EvictionPolicy
  ) {
    let cache = MemoryCache<Int, Int>(costLimit: 10, policy: policy, cost: { $0 })
    for key in 0..<5 { cache.set(2, for: key) }

    cache.set(11, for: 7)
    cache.set(.max, for: 0)

    #expect((0..<5).map { cache.peek($0) } == [nil, 2, 2, 2, 2])
    #expect(cache.peek(7) == nil && cache.statistics.rejections == 2)
    #expect(cache.totalCost == 8 && cache.statistics.evictions == 0)
  }

  @Test(arguments: policies)
  func `a cache with a limit of zero or less keeps no value that costs anything`(
    policy: EvictionPolicy
  ) {
    for (costLimit, countLimit) in [(0, 10), (-1, 10), (10, 0), (10, -1), (.min, .min)] {
      let cache = MemoryCache<Int, Int>(
        costLimit: costLimit, countLimit: countLimit, policy: policy, cost: { _ in 1 })
      cache.set(1, for: 1)
      #expect(cache.now(1, Lookup()) == nil && cache.count == 0)
    }
  }

  @Test(arguments: policies)
  func `a value whose cost changes counts with its present cost`(
    policy: EvictionPolicy
  ) {
    let cache = MemoryCache<Int, Int>(costLimit: 20, policy: policy, cost: { $0 })
    cache.set(1, for: 1)

    for cost in [5, 20, 3, 19, 0, 7, 7] {
      cache.set(cost, for: 0)
      #expect(cache.totalCost == (cache.peek(0) ?? 0) + (cache.peek(1) ?? 0))
      #expect(cache.peek(0) ?? cost == cost)
      #expect(cache.totalCost <= 20 && cache.shards.flaw() == nil)
    }
  }

  @Test(arguments: policies)
  func `eight threads that set four times too much never exceed the limits`(
    policy: EvictionPolicy
  ) {
    let cache = MemoryCache<Int, Int>(
      costLimit: 130_000, countLimit: 6_000, policy: policy, cost: { $0 })
    let excess = Atomic<Int>(0)

    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for step in 0..<3_000 {
        let key = thread * 3_000 + step
        cache.set(1 + key % 50, for: key)
        let isTooMuch = cache.totalCost > 130_000 || cache.count > 6_000
        if isTooMuch { excess.add(1, ordering: .relaxed) }
        if step % 5 == 0 { cache.remove(key / 2) }
        _ = cache.now(key / 3, Lookup())
      }
    }

    #expect(excess.load(ordering: .relaxed) == 0)
    #expect(cache.count > 4_096 && cache.shards.mask.load(ordering: .relaxed) == 15)
    #expect(cache.shards.flaw() == nil)
  }

  struct Awkward: Hashable {
    let number: Int

    func hash(into hasher: inout Hasher) {}
  }

  @Test(arguments: [EvictionPolicy.leastRecentlyUsed, .adaptive])
  func `five thousand keys that all hash alike stay apart`(policy: EvictionPolicy) {
    let cache = MemoryCache<Awkward, Int>(countLimit: 50, policy: policy)

    for number in 0..<5_000 {
      cache.set(number, for: Awkward(number: number))
      if number % 1_000 == 0, cache.peek(Awkward(number: number)) != number {
        Issue.record("\(number) is not there")
      }
    }

    #expect(cache.count == 50 && cache.shards.flaw() == nil)
    #expect(cache.snapshot().allSatisfy { $0.key.number == $0.value })
    cache.removeAll()
    #expect(cache.count == 0 && cache.shards.flaw() == nil)
  }

  @Test(arguments: policies)
  func `keys that do not equal themselves are not stored, and displace no other`(
    policy: EvictionPolicy
  ) {
    let cache = MemoryCache<Double, Int>(countLimit: 3, policy: policy)
    let gone = Recorder<Int>().subscribe(to: cache.removals.map(\.value))
    for key in 0..<3 { cache.set(key, for: Double(key)) }

    for number in 0..<100 {
      cache.set(number, for: .nan)
      cache.remove(.nan)
      _ = cache.apply(.fill(.nan, Stamped(number), FillToken()))
    }

    #expect(cache.now(.nan, Lookup()) == nil && gone.values.isEmpty)
    #expect((0..<3).allSatisfy { cache.now(Double($0), Lookup()) == $0 })
    #expect(cache.shards.flaw() == nil)
  }

  @Test(arguments: [true, false])
  func `memory pressure from another thread does not disturb a get that is held back`(
    isReplayed: Bool
  ) async throws {
    let origin = TestOrigin<String, Int>()
    let memory = MemoryCache<String, Int>(countLimit: 10)
    let cache =
      isReplayed
      ? AnyCache(origin.replayed(in: memory))
      : AnyCache(memory.layered(over: origin).reusingInFlight())
    memory.set(1, for: "b")
    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))

    await Task.detached { memory.relieve(.critical) }.value
    #expect(memory.count == 0 && recorder.transcript.isEmpty)
    origin["a"].next(2)
    await Task.detached { memory.relieve(.critical) }.value
    origin["a"].completed()

    #expect(recorder.transcript == ["next 2", "completed"])
    #expect(memory.count == 0 && memory.shards.flaw() == nil)
    #expect(origin["a"].subscriptions == 1)
  }

  @Test(arguments: policies)
  func `a set from an observer of evictions does not recurse`(
    policy: EvictionPolicy
  ) {
    let cache = MemoryCache<Int, Int>(countLimit: 10, policy: policy)
    let (depth, deepest) = (Locked(0), Locked(0))
    let seen = Locked(0)
    cache.removals.subscribe(onNext: { [unowned cache] _ in
      let now = depth.withLock { depth in
        depth += 1
        return depth
      }
      deepest.withLock { $0 = max($0, now) }
      let number = seen.withLock { seen in
        seen += 1
        return seen
      }
      // One set for each removal, which evicts another value.
      if number <= 5_000 { cache.set(-number, for: -number) }
      depth.withLock { $0 -= 1 }
    })

    for key in 0..<11 { cache.set(key, for: key) }

    #expect(seen.withLock { $0 } == 5_001 && deepest.withLock { $0 } == 1)
    #expect(cache.count == 10 && cache.shards.flaw() == nil)
  }
}
