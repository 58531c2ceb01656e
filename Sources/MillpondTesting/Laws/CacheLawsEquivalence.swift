import MillpondCore
import MillpondSignals

extension CacheLaws {
  /// Returns a check that performs one history on two compositions and compares them.
  ///
  /// They must answer alike, ask their layers alike, and leave the same values in them.
  func likeness(
    _ composition: String, _ kind: CacheLawsKind, _ left: @escaping Composition,
    _ right: @escaping Composition
  ) -> Check {
    Check(composition: composition, kind: kind) { steps, timeLimit in
      let (one, other) = (scene(kind, timeLimit, left), scene(kind, timeLimit, right))
      for step in steps {
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

  private func scene(
    _ kind: CacheLawsKind, _ timeLimit: Duration, _ compose: Composition
  ) -> Scene {
    Scene(self, timeLimit, isRested: kind == .rested) { layers, _ in
      compose(AnyCache(layers[0]), AnyCache(layers[1]), AnyCache(layers[2]))
    }
  }
}

/// The observations of one get, write or layer.
private struct CacheObservation<Value: Equatable & Sendable>: Equatable {
  let what: String
  var values: [Value] = []
  let rest: String

  var description: String { values.isEmpty ? rest : "\(values), \(rest)" }
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
    gets.map { get in
      let end = get.recorder.end?.summary ?? "no end"
      return CacheObservation(what: get.name, values: get.recorder.values, rest: end)
    }
      + writes.map { write in
        let outcome = write.outcome.transcript.joined(separator: ", ")
        return CacheObservation(what: write.name, rest: outcome)
      }
      + layers.enumerated().map { number, layer in
        CacheObservation(
          what: "layer \(number)",
          rest: "asked for \(counts(of: layer.gets)), holding \(layer.heldCount) answers back")
      }
  }

  /// The number of gets of each key: no order of different keys is promised, and it varies where
  /// answers come on other threads.
  private func counts(of gets: [Key]) -> String {
    keys.map { key in "\(key) \(gets.count { $0 == key })×" }.joined(separator: ", ")
  }
}
