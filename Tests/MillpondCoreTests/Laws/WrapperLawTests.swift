import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Wrappers that change only the time or the number of a layer's gets: they are equivalent to the
/// layer as long as nothing is late and nothing is repeated.
@Suite struct WrapperLawTests {
  typealias Layer = AnyCache<Int, Int>

  let laws = CacheLaws(keys: [0, 1, 2, 3], values: Array(1...12)) { TestCache<Int, Int>() }

  static let wrappings: [(String, @Sendable (Layer) -> AnyCache<Int, Int>)] = [
    ("keys mapped", { AnyCache($0.mapKeys({ $0 }, inverse: { $0 })) }),
    ("values mapped by key", { AnyCache($0.mapValues(byKey: { _ in .identity })) }),
    ("filtered", { AnyCache($0.filtered { _, _ in true }) }),
    ("conditioned", { AnyCache($0.conditioned { _ in true }) }),
    ("post-processed", { AnyCache($0.postProcessed { _, value in value }) }),
    ("retrying", { AnyCache($0.retrying(.immediate(attempts: 1))) }),
    ("timing out", { AnyCache($0.timingOut(after: .seconds(1), clock: ManualClock())) }),
    ("limited", { AnyCache($0.limited(to: 100, reserved: 1)) }),
    ("limited without waiting", { AnyCache($0.limited(to: 100, maxWaiting: 0)) }),
    (
      "circuit breaking",
      { AnyCache($0.circuitBreaking(afterFailures: 1, for: .zero, clock: ManualClock())) }
    ),
    (
      "rate limited",
      { AnyCache($0.rateLimited(to: 1, per: .zero, clock: ManualClock())) }
    ),
    // Errors name a layer, or describe a composition by its structure.
    (
      "recovering with nothing",
      { AnyCache($0.recovering(with: EmptyCache()).named("TestCache")) }
    ),
    (
      "hedged with nothing",
      {
        AnyCache(
          $0.hedged(with: EmptyCache(), after: .seconds(1), clock: ManualClock())
            .named("TestCache"))
      }
    ),
    (
      "switched to the same",
      { AnyCache($0.switched(to: $0) { $0.isMultiple(of: 2) }.named("TestCache")) }
    ),
  ]

  @Test(arguments: 0..<5)
  func `a wrapping that changes nothing is not noticed in any layer`(seed: UInt64) async {
    for (name, wrap) in Self.wrappings {
      let breach = await laws.difference(
        seed: seed, between: { AnyCache($0.layered(over: $1.layered(over: $2))) },
        and: { AnyCache(wrap($0).layered(over: wrap($1).layered(over: wrap($2)))) })
      #expect(breach == nil, "\(name)")
    }
  }

  @Test(arguments: 0..<5)
  func `layering is associative, whatever the middle layer is wrapped in`(seed: UInt64) async {
    for (name, wrap) in Self.wrappings {
      let breach = await laws.difference(
        seed: seed, between: { AnyCache($0.layered(over: wrap($1)).layered(over: $2)) },
        and: { AnyCache($0.layered(over: wrap($1).layered(over: $2))) })
      #expect(breach == nil, "\(name)")
    }
  }

  @Test(arguments: 0..<5)
  func `layering is associative over layers that refuse or drop`(seed: UInt64) async {
    let odd: [(String, @Sendable (Layer) -> AnyCache<Int, Int>)] = [
      ("filtered", { AnyCache($0.filtered { key, value in (key + value).isMultiple(of: 2) }) }),
      ("read only", { AnyCache($0.readOnly()) }),
      (
        "keys that throw",
        and: { AnyCache($0.mapKeys { if $0 == 1 { throw CacheError.miss } else { $0 } }) }
      ),
    ]
    for (name, wrap) in odd {
      let breach = await laws.difference(
        seed: seed, between: { AnyCache($0.layered(over: wrap($1)).layered(over: $2)) },
        and: { AnyCache($0.layered(over: wrap($1).layered(over: $2))) })
      #expect(breach == nil, "\(name)")
    }
  }

  @Test func `the title of each says what it does`() {
    let titles = Self.wrappings.map { $0.1(Layer(EmptyCache())).topology(for: nil).title }

    #expect(Set(titles).count == Self.wrappings.count)
    #expect(titles.contains("limited to 100, 1 reserved"))
  }
}
