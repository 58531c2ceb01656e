import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MemoryCacheLimitsTests {
  static let policies: [EvictionPolicy] = [.leastRecentlyUsed, .adaptive, .adaptivePreferringSmall]

  @Test(arguments: policies)
  func `trimmed to all, or to no number, a cache keeps everything`(policy: EvictionPolicy) {
    let cache = MemoryCache<Int, Int>(costLimit: 100, policy: policy, cost: { $0 })
    for cost in 1...10 { cache.set(cost, for: cost) }

    for share in [1, 1.5, Double.infinity, .nan] { cache.trim(to: share) }

    #expect(cache.count == 10 && cache.totalCost == 55)
  }

  @Test(arguments: policies)
  func `trimmed to a share, no more goes than has to`(policy: EvictionPolicy) {
    let cache = MemoryCache<Int, Int>(costLimit: 100, policy: policy, cost: { _ in 1 })
    for key in 0..<2 { cache.set(0, for: key) }

    cache.trim(to: 0.5)

    #expect(cache.count == 1 && cache.totalCost == 1)
  }

  @Test(arguments: [0.0, -1, -Double.infinity])
  func `trimmed to nothing or less, a cache keeps nothing`(share: Double) {
    let cache = MemoryCache<Int, Int>(costLimit: 100, cost: { $0 })
    for cost in 0..<10 { cache.set(cost, for: cost) }

    cache.trim(to: share)

    #expect(cache.count == 0 && cache.totalCost == 0)
  }

  @Test func `the largest cost of all can be trimmed`() {
    let cache = MemoryCache<Int, Int>(
      costLimit: .max, policy: .leastRecentlyUsed, cost: { $0 })
    cache.set(.max, for: 0)

    cache.trim(to: 1)
    #expect(cache.totalCost == .max)

    cache.trim(to: 1 - Double.ulpOfOne / 2)
    #expect(cache.totalCost == 0)
  }

  @Test func `a memory cache keeps half on a warning, and nothing when it is critical`() {
    let pressure = PublishSubject<MemoryPressure>()
    let memory = MemoryCache<Int, Int>(countLimit: 100)
    for key in 0..<10 { memory.set(key, for: key) }
    let causes = Recorder<Removal<Int, Int>>().subscribe(to: memory.removals)
    memory.onMemoryPressure(pressure.signal)

    pressure.next(.warning)
    #expect(memory.count == 5)

    pressure.next(.critical)
    #expect(memory.count == 0)
    #expect(causes.values.map(\.cause) == Array(repeating: .pressure, count: 10))
    #expect(memory.now(9, Lookup()) == nil)
  }

  @Test(arguments: policies)
  func `a lowered limit evicts at once`(policy: EvictionPolicy) {
    let cache = MemoryCache<Int, Int>(costLimit: 100, policy: policy, cost: { $0 })
    for cost in 1...10 { cache.set(cost, for: cost) }

    cache.countLimit = 5
    #expect(cache.count <= 5)

    cache.costLimit = 12
    #expect(cache.totalCost <= 12)

    cache.costLimit = -1
    #expect(cache.count == 0 && cache.costLimit == 0)
  }

  @Test func `a limit that is raised lets more in`() {
    let cache = MemoryCache<Int, Int>(countLimit: 1)
    cache.countLimit = 5_000

    for key in 0..<6_000 { cache.set(key, for: key) }

    #expect(cache.count == 5_000)
  }

  @Test(arguments: [MemoryPressure.warning, .critical])
  func `under pressure half or all of the values go, and are reported`(pressure: MemoryPressure) {
    let cache = MemoryCache<Int, Int>(countLimit: 10)
    let causes = Recorder<Removal<Int, Int>.Cause>().subscribe(to: cache.removals.map(\.cause))
    for key in 0..<10 { cache.set(key, for: key) }

    cache.relieve(pressure)

    let left = pressure == .warning ? 5 : 0
    #expect(cache.count == left && cache.statistics.evictions == 10 - left)
    #expect(causes.values == Array(repeating: .pressure, count: 10 - left))
  }
}
