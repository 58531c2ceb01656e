import MillpondCore
import MillpondSignals

extension CacheLaws {
  /// Returns a check that performs one history on two compositions and compares them.
  ///
  /// They must answer alike, ask their layers alike, and leave the same values in them.
  func likeness(
    _ composition: String, _ kind: CacheLawsStep.Kind, _ left: @escaping Composition,
    _ right: @escaping Composition
  ) -> CacheLawsCheck {
    CacheLawsCheck(composition: composition, kind: kind) { steps, timeLimit in
      let one = CacheLawsScene(self, timeLimit) { layers, _ in Self.compose(layers, left) }
      let other = CacheLawsScene(self, timeLimit) { layers, _ in Self.compose(layers, right) }
      for step in steps {
        if kind == .rested, step.isWrite, one.gets.contains(where: \.isOpen) { continue }
        for scene in [one, other] {
          scene.perform(step)
          if kind == .calm {
            await scene.answerAll()
          } else {
            await scene.settle()
          }
        }
        if one.progress != other.progress, let difference = one.difference(from: other) {
          return CacheLawsFinding(steps: one.log, description: difference)
        }
      }
      for scene in [one, other] {
        await scene.finish()
        scene.probeLayers()
        await scene.settle()
      }
      return one.difference(from: other).map {
        CacheLawsFinding(steps: one.log, description: "when all have been answered, \($0)")
      }
    }
  }

  private static func compose(
    _ layers: [CacheLawsLayer<Key, Value>], _ composition: Composition
  ) -> AnyCache<Key, Value> {
    composition(AnyCache(layers[0]), AnyCache(layers[1]), AnyCache(layers[2]))
  }
}

/// The observations of one get, write or layer.
private struct CacheObservation<Value: Equatable & Sendable>: Equatable {
  let what: String
  let events: [Event<Value>]
  var details = ""

  static func == (left: CacheObservation, right: CacheObservation) -> Bool {
    left.what == right.what && left.details == right.details
      && left.events.count == right.events.count
      && zip(left.events, right.events).allSatisfy { isEqual($0, $1) }
  }

  var description: String {
    "[\((events.map(\.summary) + (details.isEmpty ? [] : [details])).joined(separator: ", "))]"
  }

  private static func isEqual(_ left: Event<Value>, _ right: Event<Value>) -> Bool {
    if case .next(let value) = left, case .next(let other) = right { return value == other }
    return left.summary == right.summary
  }
}

extension CacheLawsScene {
  /// Looks up every key in each layer.
  fileprivate func probeLayers() {
    for (number, layer) in layers.enumerated() {
      for key in keys.indices {
        probe(layer.base, key, "what layer \(number) keeps for \(keys[key])")
      }
    }
  }

  /// The progress of the scene in a few numbers, which are quick to compare after each step.
  fileprivate var progress: [Int] {
    [gets.count { $0.recorder.end != nil }, heldCount, activeRuns.count]
      + layers.map(\.getCount)
  }

  /// Returns the first observation that differs in `other`.
  fileprivate func difference(from other: CacheLawsScene) -> String? {
    let pairs = zip(observations, other.observations)
    return pairs.first { $0 != $1 }.map { mine, others in
      "\(mine.what): in one \(mine.description), in the other \(others.description)"
    }
  }

  private var observations: [CacheObservation<Value>] {
    gets.map { CacheObservation(what: $0.name, events: $0.recorder.events.filter(\.isAnswer)) }
      + writes.map {
        CacheObservation(
          what: $0.name, events: [], details: $0.outcome.transcript.joined(separator: ", "))
      }
      + layers.enumerated().map { number, layer in
        CacheObservation(
          what: "layer \(number)", events: [],
          details: "asked for \(counts(of: layer.gets)), holding \(layer.heldCount) answers back")
      }
  }

  /// The number of gets of each key: no order of different keys is promised, and it varies where
  /// answers come on other threads.
  private func counts(of gets: [Key]) -> String {
    keys.map { key in "\(key) \(gets.count { $0 == key })×" }.joined(separator: ", ")
  }
}

extension Event {
  fileprivate var isAnswer: Bool {
    if case .progress = self { false } else { true }
  }
}
