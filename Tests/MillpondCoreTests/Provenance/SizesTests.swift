import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SizesTests {
  let byCount = MemoryCache<String, Int>(countLimit: 10)
  let byCost = MemoryCache<String, Int>(costLimit: 1_000) { $0 }

  @Test func `each layer says how much it keeps, by its name`() {
    let cache = byCount.named("near").layered(
      over: byCost.mapKeys { $0 }.named("far").layered(over: TestOrigin())
    ).reusingInFlight().named("all")
    cache.set(7, for: "a")
    cache.set(8, for: "b")

    #expect(
      cache.sizes == ["near": LayerSize(count: 2), "far": LayerSize(count: 2, cost: 15)])
  }

  @Test func `layers of the same name are added up`() {
    byCost.set(7, for: "a")
    let other = MemoryCache<String, Int>(costLimit: 1_000) { $0 }
    other.set(1, for: "b")

    let sizes = AnyCache(byCost.limited(to: 1)).layered(over: other).sizes

    #expect(sizes == ["MemoryCache": LayerSize(count: 2, cost: 8)])
  }
}
