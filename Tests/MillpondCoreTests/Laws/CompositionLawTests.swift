import MillpondCore
import MillpondTesting
import Testing

/// Equivalent compositions, on random histories.
@Suite struct CompositionLawTests {
  let laws = CacheLaws(keys: ["a", "b", "c", "d"], values: Array(1...12)) {
    TestCache<String, Int>()
  }

  @Test(arguments: 0..<30)
  func `layering is associative, and the empty cache is its identity`(seed: UInt64) async {
    for law in [CacheLaw.association, .identity] {
      let breach = await laws.breach(of: law, seed: seed)
      #expect(breach == nil, "\(breach?.description ?? "")")
    }
  }

  @Test(arguments: 0..<15)
  func `names, slots, keys and codecs that change nothing make no difference`(seed: UInt64) async {
    // The name that failures of writes give to the layer without one too.
    let name = "TestCache"
    let breach = await laws.difference(
      seed: seed,
      between: { AnyCache($0.layered(over: $1.layered(over: $2))) },
      and: { a, b, c in
        AnyCache(
          a.named(name).layered(
            over: b.named(name).layered(over: c).mapKeys({ $0 }, inverse: { $0 }).mapValues(
              .identity)
          ).limited(to: 100).monitored(by: CacheMonitor()))
      })

    #expect(breach == nil, "\(breach?.description ?? "")")
  }

  @Test(arguments: 0..<15)
  func `the order of the combinators makes no difference`(seed: UInt64) async {
    let breach = await laws.difference(
      seed: seed,
      between: { a, b, _ in AnyCache(a.layered(over: b).reusingInFlight().named("both")) },
      and: { a, b, _ in AnyCache(a.layered(over: b).named("both").reusingInFlight()) })

    #expect(breach == nil, "\(breach?.description ?? "")")
  }
}
