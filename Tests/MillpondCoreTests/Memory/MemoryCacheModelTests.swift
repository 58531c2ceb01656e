import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore
@testable import MillpondTesting

/// A million random steps, each compared with what a plain cache would do.
@Suite(.serialized) struct MemoryCacheModelTests {
  @Test(arguments: ModelScene.all, 0..<8 as Range<UInt64>)
  func `a small cache does what a plain one does`(scene: ModelScene, seed: UInt64) async {
    await expectLikeness(scene, seed, count: 6_000, interval: 6)
  }

  @Test(arguments: ModelScene.large)
  func `one that becomes sixteen does what a plain one does`(scene: ModelScene) async {
    await expectLikeness(scene, 1, count: 8_000, interval: 4_000)
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
