import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// The gets of a wrapper are signals like any other.
@Suite(.heavy) struct WrapperSignalLawTests {
  @Test(arguments: LawfulWrapper.all)
  func `the gets of every wrapper keep the laws of signals`(subject: LawfulWrapper) async {
    let clock = ManualClock()
    let laws = SignalLaws(passTime: { clock.advance(by: .seconds(1)) }) { signal in
      subject.wrap(SignalSource(signal: signal), clock).get(0)
    }

    let breaches = await laws.breaches()

    #expect(breaches.isEmpty, "\(breaches.map { "\($0.law): \($0.description)" })")
  }
}

/// A source of one signal.
struct SignalSource: Source {
  let signal: Signal<Int>

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    signal
  }
}

/// A wrapper by its name.
struct LawfulWrapper: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let wrap: @Sendable (SignalSource, ManualClock) -> AnyCache<Int, Int>

  init(
    _ name: String, _ wrap: @escaping @Sendable (SignalSource, ManualClock) -> AnyCache<Int, Int>
  ) {
    testDescription = name
    self.wrap = wrap
  }

  static let all = [
    LawfulWrapper("keys mapped") { base, _ in AnyCache(base.mapKeys { $0 }) },
    LawfulWrapper("values transformed") { base, _ in AnyCache(base.mapValues { $0 + 1 }) },
    LawfulWrapper("values mapped") { base, _ in AnyCache(base.mapValues(.identity)) },
    LawfulWrapper("filtered") { base, _ in AnyCache(base.filtered { _, _ in true }) },
    LawfulWrapper("conditioned") { base, _ in AnyCache(base.conditioned { _ in true }) },
    LawfulWrapper("function") { base, _ in
      AnyCache(FunctionSource.signal { key, lookup in base.get(key, lookup) })
    },
    LawfulWrapper("closures") { base, _ in
      AnyCache(get: { key, lookup in base.get(key, lookup) }, set: { _, _ in .just(()) })
    },
    LawfulWrapper("post-processed") { base, _ in AnyCache(base.postProcessed { $1 }) },
    LawfulWrapper("switched") { base, _ in AnyCache(base.switched(to: base) { _ in true }) },
    LawfulWrapper("delivered") { base, _ in
      AnyCache(base.delivered(on: DispatchQueue(label: "laws")))
    },
    LawfulWrapper("retrying") { base, clock in
      AnyCache(base.retrying(.immediate(attempts: 2), clock: clock))
    },
    LawfulWrapper("timing out") { base, clock in
      AnyCache(base.timingOut(after: .seconds(3_600), clock: clock))
    },
    LawfulWrapper("recovering") { base, _ in
      AnyCache(base.recovering(with: EmptyCache()))
    },
    LawfulWrapper("hedged") { base, clock in
      AnyCache(base.hedged(with: base, after: .seconds(1), clock: clock))
    },
    LawfulWrapper("limited") { base, _ in AnyCache(base.limited(to: 1)) },
    LawfulWrapper("circuit breaking") { base, clock in
      AnyCache(base.circuitBreaking(afterFailures: 1, for: .zero, clock: clock))
    },
    LawfulWrapper("rate limited") { base, clock in
      AnyCache(base.rateLimited(to: 1, per: .seconds(1), burst: 9, clock: clock))
    },
    LawfulWrapper("batched") { base, clock in
      let bulk = BulkSource<Int, Int> { _ in base.signal.map { [0: $0] } }
      return AnyCache(bulk.batching(window: .seconds(1), max: 1, clock: clock))
    },
  ]
}
