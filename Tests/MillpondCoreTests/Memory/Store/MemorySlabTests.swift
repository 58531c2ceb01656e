import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct MemorySlabTests {
  let living = Locked(0)

  private var count: Int {
    living.withLock { $0 }
  }

  @Test func `it releases all that it keeps, once`() {
    do {
      let slab = MemorySlab<Counted, Counted>()
      slab.resize(to: 4)
      for slot in 0..<4 as Range<Slot> { slab.fill(slot, Counted(0, living), Counted(1, living)) }
      slab.resize(to: 9)
      #expect(count == 8)

      _ = slab.take(2)
      #expect(count == 6)
      _ = slab.exchange(0, Counted(2, living))
      #expect(count == 6 && slab.pairs[0].value.number == 2)
      slab.fill(2, Counted(3, living), Counted(3, living))
      slab.fill(4, Counted(4, living), Counted(4, living))
      _ = slab.take(0)
      #expect(count == 8 && Array(slab.isUsed) == [false, true, true, true, true])
    }

    #expect(count == 0)
  }

  @Test func `an empty one leaves nothing`() {
    let slab = MemorySlab<Counted, Counted>()

    #expect(slab.isUsed.isEmpty && slab.capacity == 0)
  }

  @Test(arguments: MemoryCacheLimitsTests.policies, [10, 5_000])
  func `a cache that is released releases all its values`(policy: EvictionPolicy, count: Int) {
    do {
      let cache = MemoryCache<Int, Counted>(countLimit: 20_000, policy: policy)
      for key in 0..<count { cache.set(Counted(key, living), for: key) }
      for key in 0..<count / 2 { cache.set(Counted(key, living), for: key) }
      for key in 0..<count / 5 { cache.remove(key) }
      #expect(self.count == count - count / 5 && cache.count == self.count)
    }

    #expect(self.count == 0)
  }

  @Test func `a value that is removed for any reason is released when the call returns`() {
    let clock = ManualClock()
    let cache = MemoryCache<Int, Counted>(
      costLimit: 100, countLimit: 50, timeToLive: .after(.seconds(1)), clock: clock,
      cost: { $0.number })
    let steps: [(MemoryCache<Int, Counted>) -> Void] = [
      { cache in for key in 0..<80 { cache.set(Counted(3, living), for: key) } },
      { $0.set(Counted(1_000, living), for: 79) },
      { $0.trim(to: 0.7) },
      { $0.countLimit = 10 },
      { $0.costLimit = 12 },
      { $0.relieve(.warning) },
      { _ in clock.advance(by: .seconds(1)) },
      { $0.removeExpired() },
      { $0.set(Counted(1, living), for: 1) },
      { $0.removeAll() },
    ]

    for step in steps {
      step(cache)
      #expect(count == cache.count)
    }
    #expect(count == 0)
  }

  @Test func `flights that never arrived are released with the memory`() {
    do {
      let origin = TestOrigin<Int, Counted>()
      let cache = origin.replayed(in: MemoryCache(countLimit: 20_000))
      let recorders = (0..<10).map { Recorder<Counted>().subscribe(to: cache.get($0)) }
      for key in 100..<4_300 { cache.set(Counted(key, living), for: key) }
      for recorder in recorders { recorder.dispose() }
      #expect(cache.flights.isEmpty && origin.activeRuns == 0)
    }

    #expect(count == 0)
  }
}
