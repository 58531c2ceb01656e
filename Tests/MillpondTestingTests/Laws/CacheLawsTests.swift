import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Caches and compositions that are broken on purpose, each in one way.
@Suite(.heavy) struct CacheLawsTests {
  typealias Layer = AnyCache<String, Int>

  /// Returns laws with a short timeLimit, since a wait in vain is the fault under test.
  private func laws(_ fault: BrokenCache.Fault) -> CacheLaws<String, Int> {
    CacheLaws(keys: ["a", "b", "c"], values: Array(1...10), timeLimit: .milliseconds(300)) {
      BrokenCache(fault)
    }
  }

  private let sound = CacheLaws(keys: ["a", "b", "c"], values: Array(1...10)) {
    TestCache<String, Int>()
  }

  /// Returns the first breach that any of a hundred histories shows.
  private func breach(
    between left: @escaping CacheLaws<String, Int>.Composition,
    and right: @escaping CacheLaws<String, Int>.Composition
  ) async -> Breach<String>? {
    for seed in UInt64(0)..<100 {
      if let breach = await sound.difference(seed: seed, between: left, and: right) {
        return breach
      }
    }
    return nil
  }

  /// Expects a breach that was found with few steps, and can be found again.
  private func expectShort<Law>(_ breach: Breach<Law>?, location: SourceLocation = #_sourceLocation)
  {
    let text = breach?.description ?? "nothing was found"
    // The first line names the composition.
    #expect(2...7 ~= breach?.steps.count ?? 0, "\(text)", sourceLocation: location)
    #expect(text.contains("seed \(breach?.seed ?? 0)"), sourceLocation: location)
  }

  @Test(
    arguments: [
      (.staleNow, .identity), (.staleStamped, .identity),
      (.staleStamped, .mappedValues), (.ignoresTokens, .noLateWrite),
      (.forgetsNothing, .noLateWrite),
      (.neverCompletes, .everyGetEnds), (.completesTwice, .everyGetEnds),
    ] as [(BrokenCache.Fault, CacheLaw)])
  func `a cache that breaks a law is detected`(fault: BrokenCache.Fault, law: CacheLaw) async {
    let breaches = await laws(fault).breaches(of: [law], seeds: 0..<100)

    #expect(breaches.map(\.law) == [law])
    expectShort(breaches.first)
  }

  @Test func `a failure of a slow cache is shortened too`() async {
    let laws = CacheLaws(keys: ["a", "b", "c"], values: Array(1...10), timeLimit: .seconds(1)) {
      Slow(base: BrokenCache(.forgetsNothing))
    }

    expectShort(await laws.breaches(of: [.noLateWrite], seeds: 0..<100).first)
  }

  /// A cache that answers later than a hasty check would wait.
  private struct Slow: Cache {
    let base: BrokenCache

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
      base.get(key, lookup).delay(.milliseconds(12))
    }

    func apply(_ change: Change<String, Int>) -> Signal<Void> {
      base.apply(change)
    }
  }

  @Test func `a breach names the law, the history step by step, and the result`() async {
    let breach = await laws(.ignoresTokens).breaches(of: [.noLateWrite], seeds: 0..<100).first
    let steps = breach?.steps ?? []

    #expect(steps.first == "[the cache over another one and an origin]")
    #expect(
      breach?.description == """
        the law noLateWrite is broken, seed \(breach?.seed ?? 0):
        \(steps.map { "  \($0)" }.joined(separator: "\n"))
        \(breach?.finding ?? "")
        """)
    #expect(steps.contains { $0.hasPrefix("run ") })
    #expect(breach?.finding.contains(", asked after “") == true, "\(breach?.finding ?? "")")
  }

  @Test func `flights that a set does not detach are detected`() async {
    let laws = CacheLaws(keys: ["a", "b"], values: Array(1...10)) { origin in
      StickyReuse(
        MemoryCache<String, Int>(countLimit: 10).layered(over: origin))
    }

    expectShort(await laws.breaches(of: [.noLateWrite], seeds: 0..<100).first)
    expectShort(
      await breach(
        between: { a, b, _ in AnyCache(a.layered(over: b).reusingInFlight()) },
        and: { a, b, _ in AnyCache(StickyReuse(a.layered(over: b))) }))
  }

  @Test func `work that continues without a caller is detected`() async {
    let laws = CacheLaws(keys: ["a", "b"], values: [1, 2, 3], timeLimit: .milliseconds(300)) {
      Unstoppable(base: $0)
    }

    expectShort(await laws.breaches(of: [.nothingLeft], seeds: 0..<100).first)
  }

  @Test func `an upper layer whose failure hides the lower one is detected`() async {
    expectShort(
      await breach(
        between: { a, b, _ in AnyCache(a.layered(over: b)) },
        and: { a, b, _ in AnyCache(WrongLayers(a, b, .failureHides)) }))
  }

  @Test func `layers of which the upper one is written first are detected`() async {
    expectShort(
      await breach(
        between: { a, b, _ in AnyCache(a.layered(over: b)) },
        and: { a, b, _ in AnyCache(WrongLayers(a, b, .upperFirst)) }))
  }

  @Test func `fills that ignore the mark are detected`() async {
    expectShort(
      await breach(
        between: { a, b, _ in AnyCache(a.layered(over: b)) },
        and: { a, b, _ in AnyCache(WrongLayers(a, b, .ignoresToken)) }))
  }

  @Test func `mapped keys that forget to map removals are detected`() async {
    expectShort(
      await breach(
        between: { a, _, _ in AnyCache(a.mapKeys { $0 + "!" }) },
        and: { a, _, _ in AnyCache(WrongKeys(base: a)) }))
  }

  @Test func `layers in the wrong order are detected`() async {
    expectShort(
      await breach(
        between: { AnyCache($0.layered(over: $1).layered(over: $2)) },
        and: { AnyCache($1.layered(over: $0).layered(over: $2)) }))
  }

  @Test func `a cache that keeps the laws breaks none`() async {
    #expect(await sound.breaches(seeds: 0..<5).isEmpty)
  }

  @Test func `the same seed gives the same breach`() async {
    let laws = laws(.ignoresTokens)
    let seed = await laws.breaches(of: [.noLateWrite], seeds: 0..<100).first?.seed ?? 0

    let texts = [
      await laws.breach(of: .noLateWrite, seed: seed)?.description,
      await laws.breach(of: .noLateWrite, seed: seed)?.description,
    ]
    #expect(texts[0] != nil && texts[0] == texts[1])
  }
}
