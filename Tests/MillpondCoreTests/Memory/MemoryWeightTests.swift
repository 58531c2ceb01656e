import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// A value that takes the room of several others.
@Suite struct MemoryWeightTests {
  @Test(
    arguments: [
      (.leastRecentlyUsed, true), (.adaptive, false), (.adaptivePreferringSmall, false),
    ] as [(EvictionPolicy, Bool)])
  func `the entries that are evicted for a heavy value are removed, with their cost`(
    policy: EvictionPolicy, isByAgeAlone: Bool
  ) {
    let cache = MemoryCache<Int, Int>(costLimit: 100, policy: policy, cost: { $0 })
    let gone = Recorder<Int>().subscribe(to: cache.removals.map(\.key))
    for key in 0..<100 { cache.set(1, for: key) }

    // Its frequency exceeds that of all entries that must be evicted for it.
    for _ in 0..<15 { _ = Recorder<Int>().subscribe(to: cache.get(-1)) }
    cache.set(20, for: -1)

    let newcomers = cache.peek(-1) == nil ? 0 : 1
    #expect(Set(gone.values).count == gone.values.count)
    #expect(cache.count == 100 - gone.values.count + newcomers)
    #expect(cache.totalCost == 100 - gone.values.count + 20 * newcomers)
    #expect(gone.values.allSatisfy { cache.peek($0) == nil })
    if isByAgeAlone {
      #expect(newcomers == 1 && gone.values == Array(0..<20))
    }
  }

  @Test func `the least recently used go first, as many as are needed and no more`() {
    let cache = MemoryCache<Int, Int>(
      costLimit: 10, policy: .leastRecentlyUsed, cost: { $0 })
    let gone = Recorder<Int>().subscribe(to: cache.removals.map(\.key))
    for (key, cost) in [(1, 3), (2, 1), (3, 2), (4, 4)] { cache.set(cost, for: key) }
    _ = Recorder<Int>().subscribe(to: cache.get(1))

    cache.set(4, for: 5)

    #expect(gone.values == [2, 3, 4])
    #expect(cache.totalCost == 7)
  }
}
