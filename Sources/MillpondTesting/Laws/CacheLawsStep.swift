import MillpondCore

/// A step of a history.
///
/// Keys, gets and runs are given by number, which is easy to make simpler. Values come in turn, so
/// that the same one is rarely written twice.
struct CacheLawsStep<Key: Hashable & Sendable, Value: Equatable & Sendable>: Sendable {
  /// Performs a step on a scene, and returns it in words; nil if it does not apply.
  typealias Deed = @Sendable (CacheLawsScene<Key, Value>) -> (CacheLawsStep) -> String?

  let deed: Deed
  let key: Int
  let layer: Int
  let pick: Int
  let isOn: Bool

  init(_ deed: @escaping Deed, _ choices: inout Choices, keyCount: Int) {
    self.deed = deed
    key = choices.number(below: keyCount)
    layer = choices.number(below: 3)
    pick = choices.number(below: 6)
    isOn = choices.one(of: [false, true])
  }

  var freshness: Freshness {
    [.any, .any, .any, .atMost(.seconds(3_600)), .cachedOnly, .reload][pick]
  }
}

/// The kinds of histories.
enum CacheLawsKind: Sendable {
  /// Every get ends before the next step.
  case calm

  /// Answers are held back, and subscribers leave gets.
  case held

  /// The same as ``held``, without writes while a get waits.
  ///
  /// A get that moves from layer to layer may take a lower layer's token at its start, or on
  /// arrival there. A write in between refuses a fill in one case only.
  case rested

  /// Answers are held back, and layers are written only through the composition.
  case throughComposition
}

extension CacheLaws {
  /// The possible steps of a kind of histories, each as often as its weight.
  func mix(_ kind: CacheLawsKind) -> ProgramMix<Step> {
    let placing: [Step.Deed] = [Scene.place, Scene.place]
    let deeds: [Step.Deed] =
      switch kind {
      case .calm: getsAndWrites + placing
      case .held, .rested: getsAndWrites + placing + waiting
      // A value that is sent before the end may be found in a layer, or come from the running
      // flight, depending on which get looks first. So runs send without ending only where no two
      // compositions are compared.
      case .throughComposition: getsAndWrites + waiting + [Scene.send]
      }
    return ProgramMix(
      deeds.map { deed in { [keys] in Step(deed, &$0, keyCount: keys.count) } }, lengths: 5...50)
  }

  private var getsAndWrites: [Step.Deed] {
    let gets = Array(repeating: Scene.get as Step.Deed, count: 8)
    return gets + [
      Scene.set, Scene.set, Scene.set, Scene.remove, Scene.remove, Scene.removeAll,
      Scene.removeMatching, Scene.failGets, Scene.failChanges,
    ]
  }

  private var waiting: [Step.Deed] {
    [
      Scene.hold, Scene.hold, Scene.give, Scene.give, Scene.give, Scene.answer, Scene.answer,
      Scene.miss, Scene.fail, Scene.leave, Scene.leave,
    ]
  }
}
