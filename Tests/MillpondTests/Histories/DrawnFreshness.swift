import Millpond
import MillpondTesting

/// A policy that is drawn at random, and a map that remembers by it.
struct DrawnFreshness {
  let scene: HistoryScene<String, String>
  let policy: FreshnessPolicy

  /// - Parameter failureLife: The time for which failures are remembered; drawn at random if nil.
  init(_ scene: HistoryScene<String, String>, failureLife: Duration? = nil) {
    self.scene = scene
    var generator = SeededGenerator(seed: scene.seed ^ 0xF2E5)
    let stale: [StaleUse] = [.never, .onNamedErrors, .onAnyError, .atOnce, .after(.seconds(3))]
    let drawnLife: Duration = Bool.random(using: &generator) ? .zero : .seconds(7)
    let failureLife = failureLife ?? drawnLife
    policy = FreshnessPolicy(
      freshFor: .after(.seconds([0, 5, 20].randomElement(using: &generator) ?? 5)),
      usableFor: .random(using: &generator) ? .forever : .after(.seconds(40)),
      stale: stale.randomElement(using: &generator) ?? .never,
      refreshDeadline: .seconds(Bool.random(using: &generator) ? 30 : 3_000),
      failureLife: { _ in failureLife })
  }

  func make() -> AnyCache<String, String> {
    scene.says(
      "[fresh \(policy.freshFor), usable \(policy.usableFor), stale \(policy.stale), "
        + "failures \(policy.failureLife(CacheError.miss))]")
    scene.remembers(by: policy)
    let map = MultiplexerMap(
      over: scene.origin, countLimit: 1_000, freshness: policy, clock: scene.clock)
    scene.refreshes { map.refresh($0) }
    scene.shows { key in map.states(of: key).map { $0.value } }
    return AnyCache(map)
  }
}
