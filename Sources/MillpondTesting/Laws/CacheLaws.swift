public import MillpondCore
import MillpondSignals

/// The laws of composition, as checks that run on random histories.
///
/// A history is a list of steps. Each law runs the same history on two compositions of the same
/// layers, that have to answer alike and to leave the same in every layer. A breach names the seed
/// and the step, so that it can be run again, and the last steps up to it.
///
///     #expect(CacheLaws.association(seed: 7) { a, b, c in (a.layered(over: b), c) } == nil)
public enum CacheLaws {
  /// Checks that two ways to compose three layers can't be told apart.
  ///
  /// - Parameters:
  ///   - seed: Which history; the same seed gives the same one.
  ///   - steps: How long it is.
  ///   - left: One composition of three test caches, the first being the uppermost.
  ///   - right: The other one.
  /// - Returns: The first breach, or nil.
  public static func sameBehaviour(
    seed: UInt64, steps: Int = 60,
    _ left: (TestLayer, TestLayer, TestLayer) -> AnyCache<Int, Int>,
    _ right: (TestLayer, TestLayer, TestLayer) -> AnyCache<Int, Int>
  ) -> Breach? {
    let one = Stage(left)
    let other = Stage(right)
    var generator = SeededGenerator(seed: seed)
    var history: [Step] = []
    for _ in 0..<steps {
      let step = Step.random(using: &generator)
      history.append(step)
      let (first, second) = (one.perform(step), other.perform(step))
      if first != second { return Breach(seed: seed, history: history, first, second) }
    }
    return nil
  }

  /// A layer of the checks.
  public typealias TestLayer = TestCache<Int, Int>

  /// Where two compositions differ.
  public struct Breach: Sendable, Equatable, CustomStringConvertible {
    /// What was done, what came of it in one composition, and what in the other.
    public let description: String

    init(seed: UInt64, history: [Step], _ first: String, _ second: String) {
      let steps = history.suffix(8).map { "\($0)" }.joined(separator: ", ")
      description = """
        seed \(seed), step \(history.count): after … \(steps)
        one: \(first)
        other: \(second)
        """
    }
  }
}

extension CacheLaws {
  /// Something that is done to a composition or to one of its layers.
  enum Step: Sendable, CustomStringConvertible {
    case get(Int, Freshness)
    case set(Int, Int)
    case remove(Int)
    case removeAll
    case place(Int, Int, layer: Int)
    case failGets(Int, layer: Int, Bool)
    case failChanges(Int, layer: Int, Bool)

    var description: String {
      switch self {
      case .get(let key, let freshness): "get \(key) \(freshness)"
      case .set(let key, let value): "set \(key) = \(value)"
      case .remove(let key): "remove \(key)"
      case .removeAll: "remove all"
      case .place(let key, let value, let layer): "place \(key) = \(value) in \(layer)"
      case .failGets(let key, let layer, let fails): "gets of \(key) in \(layer) fail: \(fails)"
      case .failChanges(let key, let layer, let fails):
        "changes of \(key) in \(layer) fail: \(fails)"
      }
    }

    static func random(using generator: inout SeededGenerator) -> Step {
      let key = Int.random(in: 0..<4, using: &generator)
      let value = Int.random(in: 0..<100, using: &generator)
      let layer = Int.random(in: 0..<3, using: &generator)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<8: return .get(key, [.any, .any, .cachedOnly, .reload][value % 4])
      case 8..<11: return .set(key, value)
      case 11..<13: return .remove(key)
      case 13: return .removeAll
      case 14..<17: return .place(key, value, layer: layer)
      case 17, 18: return .failGets(key, layer: layer, value.isMultiple(of: 2))
      default: return .failChanges(key, layer: layer, value.isMultiple(of: 2))
      }
    }
  }

  /// Three layers and a composition of them.
  struct Stage {
    let layers: [TestLayer]
    let composition: AnyCache<Int, Int>

    init(_ compose: (TestLayer, TestLayer, TestLayer) -> AnyCache<Int, Int>) {
      layers = [TestLayer(), TestLayer(), TestLayer()]
      composition = compose(layers[0], layers[1], layers[2])
    }

    /// What came of a step: the answer, and what is in every layer after it.
    func perform(_ step: Step) -> String {
      let recorder = Recorder<Int>()
      switch step {
      case .get(let key, let freshness):
        _ = recorder.subscribe(to: composition.get(key, freshness: freshness))
      case .set(let key, let value):
        _ = recorder.subscribe(to: composition.set(value, for: key).map { 0 })
      case .remove(let key): _ = recorder.subscribe(to: composition.remove(key).map { 0 })
      case .removeAll: _ = recorder.subscribe(to: composition.removeAll().map { 0 })
      case .place(let key, let value, let layer): layers[layer].set(value, for: key)
      case .failGets(let key, let layer, let fails):
        layers[layer].failGets(of: key, with: fails ? Trouble(layer: layer) : nil)
      case .failChanges(let key, let layer, let fails):
        layers[layer].failChanges(of: key, with: fails ? Trouble(layer: layer) : nil)
      }
      let contents = layers.map { $0.contents.sorted { $0.key < $1.key }.map { "\($0)" } }
      return "\(recorder.transcript), layers \(contents), asked \(layers.map(\.gets))"
    }
  }

  /// The trouble that a layer was ordered to have.
  struct Trouble: Error {
    let layer: Int
  }
}
