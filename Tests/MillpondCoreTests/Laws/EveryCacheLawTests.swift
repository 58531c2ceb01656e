import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// The laws, on every cache and combinator of ours.
@Suite(.heavy) struct EveryCacheLawTests {
  typealias Laws = CacheLaws<String, Int>

  /// The compositions under test, with or without an origin.
  enum Subject: String, CaseIterable {
    case memory, memoryByCost, test, empty, erased, ofClosures, layered, reusing, limited, oneSlot
    case mappedKeys, mappedValues, named, monitored, scoped, everything
    case origin, originReusing, originLimited, overOrigin
    case replayed, replayedUnshared, everythingOver
    case remembered, rememberedForNoTime, multiplexed
  }

  @Test(arguments: Subject.allCases)
  func `it keeps all laws`(subject: Subject) async {
    let breaches = await laws(of: subject).breaches(seeds: 0..<UInt64(Effort.rounds(2, few: 1)))

    #expect(breaches.isEmpty, "\(breaches.map(\.description).joined(separator: "\n"))")
  }

  /// A value that is encoded in a task reaches its layer some time after the answer, so that two
  /// runs cannot be compared step by step.
  @Test func `a codec that works in tasks keeps the rules`() async {
    let laws = laws { origin in
      memory().layered(over: TestCache<String, Int>().mapValues(later).layered(over: origin))
        .reusingInFlight()
    }

    let breaches = await laws.breaches(
      of: [.noLateWrite, .everyGetEnds, .nothingLeft], seeds: 0..<3)

    #expect(breaches.isEmpty, "\(breaches.map(\.description).joined(separator: "\n"))")
  }

  private let later = Codec<Int, Int>.asynchronous(
    encode: { value in
      await Task.yield()
      return -value
    },
    decode: { value in
      await Task.yield()
      return -value
    })

  private func laws<Subject: Source<String, Int>>(
    _ make: @escaping @Sendable (TestOrigin<String, Int>) -> Subject
  ) -> Laws {
    CacheLaws(keys: ["a", "b", "c"], values: Array(1...10), composing: make)
  }

  private func laws(of subject: Subject) -> Laws {
    switch subject {
    case .memory: laws { _ in memory() }
    case .memoryByCost: laws { _ in MemoryCache(costLimit: 1_000, cost: { $0 }) }
    case .remembered: laws { $0.remembered(in: memory(), FreshnessPolicy()) }
    case .rememberedForNoTime:
      laws { $0.remembered(in: memory(), FreshnessPolicy(freshFor: .after(.zero), stale: .never)) }
    case .multiplexed: laws { MultiplexerMap(over: $0) }
    case .test: laws { _ in TestCache() }
    case .empty: laws { _ in EmptyCache() }
    case .erased: laws { _ in AnyCache(memory()) }
    case .ofClosures: laws { _ in ofClosures() }
    case .layered: laws { _ in memory().layered(over: TestCache()) }
    case .reusing: laws { _ in memory().layered(over: TestCache()).reusingInFlight() }
    case .limited: laws { _ in memory().layered(over: TestCache()).limited(to: 100) }
    case .oneSlot: laws { _ in memory().limited(to: 1) }
    case .mappedKeys: laws { _ in MemoryCache<[String], Int>(countLimit: 100).mapKeys { [$0] } }
    case .mappedValues: laws { _ in MemoryCache<String, Int>(countLimit: 100).mapValues(odd) }
    case .named: laws { _ in memory().layered(over: TestCache()).named("both") }
    case .monitored:
      laws { _ in memory().named("memory").layered(over: TestCache()).monitored(by: CacheMonitor())
      }
    case .scoped: laws { _ in memory().layered(over: TestCache()).scoped(to: CacheScope()) }
    case .everything: laws { _ in everything(over: EmptyCache()) }
    case .origin: laws { $0 }
    case .originReusing: laws { $0.reusingInFlight() }
    case .originLimited: laws { $0.limited(to: 1) }
    case .overOrigin: laws { memory().layered(over: TestCache().layered(over: $0)) }
    case .replayed: laws { $0.replayed(in: memory()) }
    case .replayedUnshared: laws { $0.replayed(in: memory(), maxFlights: 1) }
    case .everythingOver: laws { everything(over: $0.limited(to: 2)) }
    }
  }

  /// A codec that cannot encode or decode every value.
  private let odd = Codec<Int, Int>(
    encode: { value in
      if value == 3 { throw Trouble() }
      return value + 1
    },
    decode: { value in
      if value == 5 { throw Trouble() }
      return value - 1
    })

  private struct Trouble: Error {}
}

private func memory() -> MemoryCache<String, Int> {
  MemoryCache(countLimit: 100)
}

private func ofClosures() -> AnyCache<String, Int> {
  let kept = Locked<[String: Int]>([:])
  return AnyCache(
    get: { key in
      .deferred { kept.withLock { $0[key] }.map { .just($0) } ?? .empty }
    },
    set: { value, key in
      kept.withLock { $0[key] = value }
      return .just(())
    },
    remove: { key in
      kept.withLock { $0[key] = nil }
      return .just(())
    },
    removeAll: {
      kept.withLock { $0 = [:] }
      return .just(())
    })
}

private func everything(
  over lower: some Source<String, Int>
) -> some Cache<String, Int> {
  let disk = TestCache<[String], Int>().mapKeys { (key: String) in [key] }
    .mapValues(Codec<Int, Int>(encode: { -$0 }, decode: { -$0 }))
  return memory().named("memory")
    .layered(over: disk.named("disk").layered(over: lower))
    .reusingInFlight().monitored(by: CacheMonitor()).scoped(to: CacheScope())
}
