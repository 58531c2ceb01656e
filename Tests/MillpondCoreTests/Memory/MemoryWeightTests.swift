import MillpondCore
import MillpondTesting
import Testing

/// A value that takes the room of several others.
@Suite struct MemoryWeightTests {
  static let policies: [EvictionPolicy] = [
    .leastRecentlyUsed, .adaptive, .adaptivePreferringSmall,
  ]

  @Test(arguments: policies)
  func `for a value that costs as much as several others, several go`(policy: EvictionPolicy) {
    let cache = MemoryCache<Int, Int>(costLimit: 100, policy: policy, cost: { $0 })
    let gone = Recorder<Int>().subscribe(to: cache.removals.map(\.key))
    for key in 0..<100 { cache.set(1, for: key) }

    // Asked for more often than all that has to go for it.
    for _ in 0..<15 { _ = Recorder<Int>().subscribe(to: cache.get(-1)) }
    cache.set(20, for: -1)

    #expect(cache.peek(-1) == 20)
    #expect(gone.values.count == 20 && Set(gone.values).count == 20)
    #expect(cache.count == 81 && cache.totalCost == 100)
    #expect(gone.values.allSatisfy { cache.peek($0) == nil })
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
