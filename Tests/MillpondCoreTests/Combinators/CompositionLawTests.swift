import MillpondCore
import MillpondTesting
import Testing

/// Layering is a monoid, checked on random histories.
@Suite struct CompositionLawTests {
  @Test(arguments: 0..<100)
  func `I15 layering is associative`(seed: UInt64) {
    let breach = CacheLaws.sameBehaviour(
      seed: seed,
      { AnyCache($0.layered(over: $1).layered(over: $2)) },
      { AnyCache($0.layered(over: $1.layered(over: $2))) })

    #expect(breach == nil)
  }

  @Test(arguments: 0..<25)
  func `I15 the empty cache is the identity, above and below`(seed: UInt64) {
    let above = CacheLaws.sameBehaviour(
      seed: seed, { a, _, _ in AnyCache(a) },
      { a, _, _ in AnyCache(EmptyCache().layered(over: a)) })
    let below = CacheLaws.sameBehaviour(
      seed: seed, { a, _, _ in AnyCache(a) },
      { a, _, _ in AnyCache(a.layered(over: EmptyCache())) })

    #expect(above == nil)
    #expect(below == nil)
  }

  @Test(arguments: 0..<25)
  func `wrapping a composition changes nothing`(seed: UInt64) {
    let breach = CacheLaws.sameBehaviour(
      seed: seed,
      { AnyCache($0.layered(over: $1.layered(over: $2))) },
      { a, b, c in
        AnyCache(
          a.layered(over: b.layered(over: c).mapKeys { $0 }.mapValues(.identity)).limited(to: 2)
            .reusingInFlight())
      })

    #expect(breach == nil)
  }

  @Test func `the check tells a wrong layering from a right one`() {
    let breaches = (0..<20).compactMap { seed in
      CacheLaws.sameBehaviour(
        seed: seed, { AnyCache($0.layered(over: $1.layered(over: $2))) },
        { AnyCache($1.layered(over: $0.layered(over: $2))) })
    }

    #expect(!breaches.isEmpty)
  }
}
