import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// The failure of a source that is nested too deeply, for which another attempt would be as deep.
@Suite struct NestedTooDeeplyTests {
  let clock = ManualClock()
  let deep = TestCache<String, Int>()
  let origin = TestOrigin<String, Int>()

  enum Composition: CaseIterable {
    case layered, hedged, hedgedAtOnce, recovering, retrying
  }

  init() {
    deep.failGets(of: "a", with: SignalError.nestedTooDeeply)
  }

  private func make(_ composition: Composition) -> AnyCache<String, Int> {
    switch composition {
    case .layered: AnyCache(deep.layered(over: origin))
    case .hedged: AnyCache(deep.hedged(with: origin, after: .seconds(1), clock: clock))
    case .hedgedAtOnce: AnyCache(deep.hedged(with: origin, after: .zero, clock: clock))
    case .recovering: AnyCache(deep.recovering(with: origin))
    case .retrying: AnyCache(deep.retrying(.immediate(attempts: 3), clock: clock))
    }
  }

  @Test(arguments: Composition.allCases)
  func `it passes, and no other source is asked`(composition: Composition) {
    let get = Recorder<Int>().subscribe(to: make(composition).get("a"))
    clock.advance(by: .seconds(60))

    #expect(get.failure.map { "\($0)" } == "\(SignalError.nestedTooDeeply)")
    #expect(deep.gets == ["a"])
    #expect(origin["a"].subscriptions == 0)
  }

  @Test func `it is not remembered`() {
    let policy = FreshnessPolicy(failureLife: { _ in .seconds(60) })
    let users = origin.remembered(in: deep, policy, clock: clock)
    deep.failGets(of: "a", with: nil)
    users.get("a").subscribe()
    origin["a"].failed(SignalError.nestedTooDeeply)

    let get = Recorder<Int>().subscribe(to: users.get("a"))
    origin["a"].next(1)
    origin["a"].completed()

    #expect(get.values == [1])
  }
}
