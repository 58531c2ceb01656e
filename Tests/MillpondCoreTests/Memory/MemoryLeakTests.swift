import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Memory caches that have reached the end of their lives, for the leak checker.
@Suite(.heavy) struct MemoryLeakTests {
  static let policies = MemoryCacheLimitsTests.policies

  @Test(arguments: policies)
  func `a cache that was full, divided and relieved leaves nothing behind`(
    policy: EvictionPolicy
  ) {
    let living = Locked(0)
    do {
      let clock = ManualClock()
      let cache = MemoryCache<String, Counted>(
        costLimit: 20_000, timeToLive: .after(.seconds(10)), policy: policy, clock: clock,
        cost: { $0.number % 8 })
      let gone = Recorder<String>().subscribe(to: cache.removals.map(\.key))
      for number in 0..<8_000 { cache.set(Counted(number, living), for: "\(number % 7_000)") }
      cache.relieve(.warning)
      clock.advance(by: .seconds(10))
      for number in 0..<100 { cache.set(Counted(number, living), for: "\(number)") }
      #expect(!gone.values.isEmpty && living.withLock { $0 } == cache.count)
    }

    #expect(living.withLock { $0 } == 0)
  }

  @Test func `flights that end in every way leave nothing behind`() {
    let living = Locked(0)
    do {
      let origin = TestOrigin<String, Counted>()
      let cache = origin.replayed(in: MemoryCache(countLimit: 10_000))
      let recorders = (0..<8).map { Recorder<Counted>().subscribe(to: cache.get("\($0 % 4)")) }
      for number in 100..<4_300 { cache.set(Counted(number, living), for: "\(number)") }
      origin["0"].next(Counted(0, living))
      origin["0"].completed()
      origin["1"].completed()
      recorders[2].dispose()
      recorders[6].dispose()
      cache.removeAll()
      origin["3"].next(Counted(3, living))
      origin["3"].completed()
      #expect(cache.flights.isEmpty && origin.activeRuns == 0)
    }

    #expect(living.withLock { $0 } == 0)
  }
}
