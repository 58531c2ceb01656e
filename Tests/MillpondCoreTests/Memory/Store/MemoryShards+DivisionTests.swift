import Dispatch
import MillpondSignals
import MillpondTesting
import Synchronization
import TestTraits
import Testing

@testable import MillpondCore

@Suite(.heavy) struct MemoryShardsDivisionTests {
  let memory = MemoryCache<Int, Int>(countLimit: 20_000)
  let origin = TestOrigin<Int, Int>()

  private var isDivided: Bool {
    memory.shards.mask.load(ordering: .relaxed) == 15
  }

  private func fill(_ keys: Range<Int>) {
    for key in keys { memory.set(-key, for: key) }
  }

  @Test(arguments: MemoryCacheLimitsTests.policies)
  func `the store is divided at 4,096 values, and all of them are still there`(
    policy: EvictionPolicy
  ) {
    let clock = ManualClock()
    let memory = MemoryCache<Int, Int>(
      costLimit: 100_000, timeToLive: .after(.seconds(5)), policy: policy, clock: clock,
      cost: { $0 % 7 })
    for key in 0..<4_095 { memory.set(key, for: key) }
    clock.advance(by: .seconds(1))
    #expect(memory.shards.mask.load(ordering: .relaxed) == 0)

    memory.set(4_095, for: 4_095)

    #expect(memory.shards.mask.load(ordering: .relaxed) == 15)
    #expect(memory.count == 4_096 && memory.shards.flaw() == nil)
    #expect((0..<4_096).allSatisfy { memory.now($0, Lookup()) == $0 })
    clock.advance(by: .seconds(4))
    memory.removeExpired()
    #expect(memory.count == 1 && memory.shards.flaw() == nil)
  }

  @Test func `the least recently used are still those that go first`() {
    let memory = MemoryCache<Int, Int>(countLimit: 4_096, policy: .leastRecentlyUsed)
    for key in 0..<4_096 { memory.set(key, for: key) }

    memory.trim(to: 0.5)

    // Each of the stores has kept the later half of its own.
    let byStore = Dictionary(grouping: 0..<4_096) { MemoryHash($0).shard(15) }
    for keys in byStore.values {
      #expect(keys.suffix(keys.count / 2).allSatisfy { memory.peek($0) == $0 })
    }
  }

  @Test func `the counters and the share of the window survive the division`() {
    let memory = MemoryCache<Int, Int>(countLimit: 4_096)
    for _ in 0..<3 {
      for key in 0..<4_095 where memory.now(key, Lookup()) == nil { memory.set(key, for: key) }
    }
    let before = memory.statistics

    memory.set(1, for: 4_095)

    #expect(memory.statistics.hits == before.hits && memory.statistics.misses == before.misses)
    #expect(memory.statistics.insertions == before.insertions + 1)
    memory.shards.forEach { store in
      let hash = store.slab.isUsed.firstIndex(of: true).map { store.order.hash(of: Slot($0)) }
      #expect(store.order.sketch.frequency(hash ?? 0) >= 2)
      return true
    }
  }

  @Test func `flights in the air arrive once, can be joined, and can be given up`() {
    let cache = origin.replayed(in: memory)
    let callers = (0..<200).map { Recorder<Int>().subscribe(to: cache.get($0)) }

    fill(1_000..<6_000)
    #expect(isDivided && cache.flights.count == 200)
    let joiners = (0..<200).map { Recorder<Int>().subscribe(to: cache.get($0)) }
    for key in 0..<50 {
      callers[key].dispose()
      joiners[key].dispose()
    }
    #expect(cache.flights.count == 150)
    for key in 50..<200 {
      origin[key].next(key)
      origin[key].completed()
    }

    for key in 50..<200 {
      #expect(callers[key].transcript == ["next \(key)", "completed"])
      #expect(joiners[key].transcript == ["next \(key)", "completed"])
    }
    #expect((0..<50).allSatisfy { origin[$0].disposals == 1 && memory.peek($0) == nil })
    #expect((0..<200).allSatisfy { origin[$0].subscriptions == 1 })
    #expect(cache.flights.isEmpty)
    // Others of its stripe were written, so it may have been refused.
    #expect((50..<200).allSatisfy { memory.peek($0) ?? $0 == $0 })
  }

  @Test(arguments: 0..<10)
  func `flights arrive once while threads divide, join, leave and answer`(round: Int) {
    let cache = origin.replayed(in: memory)
    fill(1_000..<5_000)
    let callers = (0..<100).map { Recorder<Int>().subscribe(to: cache.get($0)) }
    let joiners = (0..<100).map { _ in Recorder<Int>() }

    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for key in 0..<100 {
        switch thread {
        case 0: fill(6_000 + key * 5..<6_005 + key * 5)
        case 1: joiners[key].subscribe(to: cache.get(key))
        case 2: if key % 2 == 0 { callers[key].dispose() }
        default:
          if key % 4 < 2 { origin[key].next(key) }
          if key % 4 < 2 { origin[key].completed() }
        }
      }
    }
    for key in 0..<100 {
      origin[key].next(key)
      origin[key].completed()
    }

    #expect(isDivided && memory.shards.flaw() == nil)
    #expect(cache.flights.isEmpty)
    for key in 0..<100 {
      #expect(joiners[key].transcript == ["next \(key)", "completed"])
      if key % 2 == 1 { #expect(callers[key].transcript == ["next \(key)", "completed"]) }
      #expect(callers[key].values.count <= 1 && callers[key].violations.isEmpty)
      #expect(origin[key].activeRuns == 0 && memory.peek(key) ?? key == key)
    }
  }

  @Test func `tokens that were taken before show afterwards which answers are late`() {
    let keys = 10_000..<10_300
    fill(0..<4_095)
    let marks = Dictionary(uniqueKeysWithValues: keys.map { ($0, FillToken()) })
    let (early, late) = (Array(keys.prefix(30)), Array(keys.dropFirst(30).prefix(30)))

    for key in early { memory.remove(key) }
    memory.set(0, for: 4_095)
    #expect(isDivided)
    for key in late { memory.remove(key) }
    for (key, mark) in marks { _ = memory.apply(.fill(key, Stamped(key), mark)) }

    #expect((early + late).allSatisfy { memory.peek($0) == nil })
    // Only keys that share a stripe with one of these may be refused.
    let mask = WriteOrder<Int>.stripeCount - 1
    let written = Set((early + late + [4_095]).map { $0.mixedHash & mask })
    let others = keys.filter { !written.contains($0.mixedHash & mask) }
    #expect(others.count > 150 && others.allSatisfy { memory.peek($0) == $0 })
  }

  @Test func `a value cleared before the division does not come back`() {
    let mark = FillToken()
    let older = Revision.next()
    memory.removeAll()
    fill(0..<4_096)

    _ = memory.apply(.fill(10_000, Stamped(1), mark))
    _ = memory.apply(.set(10_001, 1, older))
    _ = memory.apply(.removeAll(older))

    #expect(memory.peek(10_000) == nil && memory.peek(10_001) == nil)
    #expect(memory.count == 4_096)
  }

  @Test(arguments: 0..<8)
  func `a value cleared during the division is gone`(round: Int) {
    fill(0..<4_095)

    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      if thread == round % 4 {
        memory.removeAll()
        if (0..<4_095).contains(where: { memory.peek($0) != nil }) {
          Issue.record("what had been told before the clearing is still there")
        }
      } else {
        for step in 0..<10 { memory.set(1, for: 10_000 + thread * 10 + step) }
      }
    }

    #expect(memory.count <= 30 && memory.shards.flaw() == nil)
  }

  @Test func `all writes of four threads are there, once`() {
    let gone = Locked<[Int]>([])
    memory.removals.subscribe(onNext: { removal in gone.withLock { $0.append(removal.value) } })

    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for step in 0..<2_500 {
        let key = step * 4 + thread
        memory.set(key, for: key)
        if memory.now(key, Lookup()) != key { Issue.record("\(key) is not there") }
        // Few: of many removals those are forgotten that would admit a late write.
        if step % 25 == 0 { memory.remove(key) }
      }
    }

    #expect(isDivided && memory.count == 9_600 && memory.shards.flaw() == nil)
    #expect(Set(memory.snapshot().map(\.key)) == Set((0..<10_000).filter { $0 / 4 % 25 > 0 }))
    let removed = gone.withLock { $0.sorted() }
    #expect(removed == (0..<10_000).filter { $0 / 4 % 25 == 0 })
  }
}
