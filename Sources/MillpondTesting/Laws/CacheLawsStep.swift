import MillpondCore

/// A step of a history.
///
/// Keys, values, gets and runs are given by number, which is easy to shrink.
enum CacheLawsStep: Sendable, Equatable {
  case get(key: Int, Freshness)
  case leave(Int)
  case set(key: Int, value: Int)
  case remove(key: Int)
  case removeAll

  /// The keys of a set bit are removed by one predicate.
  case removeMatching(keys: Int)
  case place(key: Int, value: Int, layer: Int)
  case failGets(key: Int, layer: Int, Bool)
  case failChanges(key: Int, layer: Int, Bool)
  case hold(layer: Int, Bool)
  case give(Int)
  case send(Int, value: Int)
  case answer(Int, value: Int)
  case miss(Int)
  case fail(Int)

  /// The kinds of histories.
  enum Kind: Sendable {
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

  static func history(_ kind: Kind, keys: Int, values: Int, seed: UInt64) -> [CacheLawsStep] {
    var generator = SeededGenerator(seed: seed)
    let mix = kind.mix
    return (0..<Int.random(in: 5...50, using: &generator)).map { number in
      let draw = mix[Int.random(in: 0..<mix.count, using: &generator)]
      // Values in turn, so that the same value is rarely written twice.
      return draw(
        DrawnChoices(
          key: .random(in: 0..<keys, using: &generator), value: number % values,
          layer: .random(in: 0..<3, using: &generator), pick: .random(in: 0..<6, using: &generator),
          isOn: .random(using: &generator)))
    }
  }
}

/// The random choices for one step.
struct DrawnChoices: Sendable {
  let key: Int
  let value: Int
  let layer: Int
  let pick: Int
  let isOn: Bool

  var freshness: Freshness {
    [.any, .any, .any, .atMost(.seconds(3_600)), .cachedOnly, .reload][pick]
  }
}

extension CacheLawsStep.Kind {
  typealias Draw = @Sendable (DrawnChoices) -> CacheLawsStep

  /// The possible steps, each as often as its weight.
  var mix: [Draw] {
    switch self {
    case .calm: getsAndWrites + troubles + placing
    case .held, .rested: getsAndWrites + troubles + placing + waiting
    // A value that is sent before the end may be found in a layer, or come from the running flight,
    // depending on which get looks first. So runs send without ending only where no two
    // compositions are compared.
    case .throughComposition:
      getsAndWrites + troubles + waiting + [{ .send($0.pick, value: $0.value) }]
    }
  }

  private var getsAndWrites: [Draw] {
    Array(repeating: { .get(key: $0.key, $0.freshness) }, count: 8)
      + Array(repeating: { .set(key: $0.key, value: $0.value) }, count: 3)
      + [
        { .remove(key: $0.key) }, { .remove(key: $0.key) }, { _ in .removeAll },
        { .removeMatching(keys: $0.pick + 1) },
      ]
  }

  private var troubles: [Draw] {
    [
      { .failGets(key: $0.key, layer: $0.layer, $0.isOn) },
      { .failChanges(key: $0.key, layer: $0.layer, $0.isOn) },
    ]
  }

  private var placing: [Draw] {
    Array(
      repeating: { .place(key: $0.key, value: $0.value, layer: $0.layer) }, count: 2)
  }

  private var waiting: [Draw] {
    [
      { .hold(layer: $0.layer, $0.isOn) }, { .hold(layer: $0.layer, $0.isOn) },
      { .give($0.pick) }, { .give($0.pick) }, { .give($0.pick) },
      { .answer($0.pick, value: $0.value) }, { .answer($0.pick, value: $0.value) },
      { .miss($0.pick) }, { .fail($0.pick) },
      { .leave($0.pick) }, { .leave($0.pick) },
    ]
  }
}

extension CacheLawsStep {
  /// Whether the step writes to a layer.
  var isWrite: Bool {
    switch self {
    case .set, .remove, .removeAll, .removeMatching, .place: true
    default: false
    }
  }

  /// The same step with fewer or smaller numbers, the simplest first.
  var simpler: [CacheLawsStep] {
    let all: [CacheLawsStep] =
      switch self {
      case .get(_, let freshness):
        [.get(key: 0, .any), .get(key: 0, freshness)] + keyed { .get(key: $0, .any) }
      case .leave: [.leave(0)]
      case .set(let key, let value):
        [.set(key: 0, value: 0), .set(key: 0, value: value), .set(key: key, value: 0)]
      case .remove: [.remove(key: 0)]
      case .removeMatching(let keys):
        [.remove(key: 0), .removeAll] + (1..<keys).map { .removeMatching(keys: $0) }
      case .place(let key, let value, let layer):
        [
          .place(key: 0, value: 0, layer: layer), .place(key: 0, value: value, layer: layer),
          .place(key: key, value: 0, layer: layer),
        ]
      case .failGets(_, let layer, let fails): [.failGets(key: 0, layer: layer, fails)]
      case .failChanges(_, let layer, let fails): [.failChanges(key: 0, layer: layer, fails)]
      case .give: [.give(0)]
      case .send(let run, let value):
        [.answer(0, value: 0), .answer(run, value: value), .send(0, value: value)]
      case .answer(let run, let value):
        [.answer(0, value: 0), .answer(0, value: value), .answer(run, value: 0)]
      case .miss: [.miss(0)]
      case .fail: [.fail(0)]
      case .removeAll, .hold: []
      }
    guard let own = all.firstIndex(of: self) else { return all }
    return Array(all[..<own])
  }

  private func keyed(_ step: (Int) -> CacheLawsStep) -> [CacheLawsStep] {
    if case .get(let key, _) = self { [step(key)] } else { [] }
  }
}
