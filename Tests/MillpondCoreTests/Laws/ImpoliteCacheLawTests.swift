import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// The laws, on compositions over caches with late outcomes.
///
/// Two promises cannot hold. A write has no outcome as long as that of a layer is pending, so the
/// half of ``CacheLaw/everyGetEnds`` about writes does not hold if an outcome is pending for ever,
/// or until the next get. And over a layer that is asked before it has stored a write that it
/// reported as a success, a removed value may reappear.
@Suite(.heavy) struct ImpoliteCacheLawTests {
  typealias Impolite = ImpoliteCache<TestCache<String, Int>>

  /// A short timeLimit, since everything but the outcomes that never come is there when a call
  /// returns.
  private func laws(
    _ make: @escaping @Sendable (TestOrigin<String, Int>) -> some Source<String, Int>
  ) -> CacheLaws<String, Int> {
    CacheLaws(
      keys: ["a", "b", "c"], values: Array(1...10), timeLimit: .milliseconds(5), composing: make)
  }

  private static func layers(
    _ manner: Impolite.Manner, isLate: Bool = false, isShared: Bool,
    over origin: TestOrigin<String, Int>
  ) -> AnyCache<String, Int> {
    let lower = Released(base: ImpoliteCache(TestCache(), manner), isLate: isLate)
      .layered(over: origin)
    let layers = MemoryCache(countLimit: 100).layered(over: lower)
    return isShared ? AnyCache(layers.reusingInFlight()) : AnyCache(layers)
  }

  @Test(arguments: Impolite.Manner.allCases, [true, false])
  func `layers over it keep all laws but one`(manner: Impolite.Manner, isShared: Bool) async {
    let laws = laws { Self.layers(manner, isShared: isShared, over: $0) }

    let breaches = await laws.breaches(
      of: CacheLaw.allCases.filter { $0 != .everyGetEnds || manner == .storesLate },
      seeds: 0..<UInt64(Effort.rounds(3, few: 1)))

    #expect(breaches.isEmpty, "\(breaches.map(\.description).joined(separator: "\n"))")
  }

  @Test(arguments: [Impolite.Manner.neverEnds, .failsLate], [true, false])
  func `every get ends over it, whatever becomes of the writes`(
    manner: Impolite.Manner, isShared: Bool
  ) async {
    let laws = laws {
      WithoutOutcomes(base: Self.layers(manner, isShared: isShared, over: $0))
    }

    let breaches = await laws.breaches(of: [.everyGetEnds], seeds: 0..<10)

    #expect(breaches.isEmpty, "\(breaches.map(\.description).joined(separator: "\n"))")
  }

  @Test func `a layer that is asked before it has stored breaks the law of writes`() async {
    let laws = laws { Self.layers(.storesLate, isLate: true, isShared: false, over: $0) }

    let breaches = await laws.breaches(of: [.noLateWrite], seeds: 0..<30)

    #expect(breaches.map(\.law) == [.noLateWrite])
  }
}

/// A cache that performs the delayed operations before each get, or after it.
private struct Released: Cache {
  let base: ImpoliteCache<TestCache<String, Int>>
  let isLate: Bool

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    .deferred {
      if isLate { return base.get(key, lookup).onEnd { _ in base.release() } }
      base.release()
      return base.get(key, lookup)
    }
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    base.apply(change)
  }
}

/// A cache that reports the success of every write at once.
private struct WithoutOutcomes: Cache, AnsweringSource {
  let base: AnyCache<String, Int>

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Int>> {
    base.answers(key, lookup)
  }

  func apply(_ change: Change<String, Int>) -> Signal<Void> {
    _ = base.apply(change)
    return .just(())
  }

  func topology(for key: String?) -> Topology {
    base.topology(for: key)
  }
}
