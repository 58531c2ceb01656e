import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import MillpondCore
@testable import MillpondTesting

/// Random steps, each compared with a plain cache: a million with `MILLPOND_TORTURE` set, as in
/// `.ci/thorough`; fewer beside other suites.
@Suite(.heavy) struct MemoryCacheModelTests {
  private static let seeds = UInt64(Effort.rounds(16, few: 1))

  @Test(arguments: ModelScene.all, 0..<seeds)
  func `a small cache does what a plain one does`(scene: ModelScene, seed: UInt64) async {
    await expectLikeness(scene, seed, count: 1_500, interval: 6)
  }

  /// Few of the scenes have each policy, weights or none, and each kind of expiry.
  private static let large = stride(from: 0, to: ModelScene.large.count, by: Effort.stride(4))
    .map { ModelScene.large[$0] }

  @Test(arguments: large)
  func `one that becomes sixteen does what a plain one does`(scene: ModelScene) async {
    await expectLikeness(scene, 1, count: Effort.rounds(2_000, few: 700), interval: 1_000)
  }

  private func expectLikeness(
    _ scene: ModelScene, _ seed: UInt64, count: Int, interval: Int
  ) async {
    var drawing = ModelSteps(scene, seed: seed)
    let filling = (0..<scene.filling).map { ModelStep.set($0, cost: $0 & 7) }
    let steps = filling + (0..<count).map { _ in drawing.draw() }

    guard let found = ModelRun.run(scene, steps, interval: interval) else { return }

    let shrinker = Shrinker<ModelStep>(
      simpler: { _ in [] }, isBroken: { ModelRun.run(scene, $0, interval: 1) != nil }, limit: 400)
    let few = scene.filling == 0 ? await shrinker.shrink(Array(steps.prefix(found.count))) : []
    Issue.record("seed \(seed), step \(found.count): \(found.complaint); shortest: \(few)")
  }
}
