import MillpondCore
import MillpondSignals

extension CacheLaws {
  /// Returns the checks of a rule for the cache alone, and for the cache over another and an
  /// origin.
  func rule(
    _ check: @escaping @Sendable (Scene) async -> String?
  ) -> [Check] {
    let alone: Scene.Stage = { layers, _ in AnyCache(layers[0]) }
    let layered: Scene.Stage = { layers, origin in
      AnyCache(layers[0].layered(over: layers[1].layered(over: origin)).reusingInFlight())
    }
    return [
      rule("the cache", alone, check),
      rule("the cache over another one and an origin", layered, check),
    ]
  }

  private func rule(
    _ composition: String, _ stage: @escaping Scene.Stage,
    _ check: @escaping @Sendable (Scene) async -> String?
  ) -> Check {
    Check(composition: composition, kind: .throughComposition) { steps, timeLimit in
      let scene = Scene(self, timeLimit, stage)
      for step in steps {
        scene.perform(step)
        await scene.settle()
      }
      return await check(scene).map {
        CacheLawsFinding(steps: scene.log, description: $0)
      }
    }
  }
}

extension CacheLawsScene {
  /// Returns a finding for a get that received a value which an earlier write had replaced.
  func lateWrite() async -> String? {
    await finish()
    for key in keys.indices { probe(cache, key, "the last get of \(keys[key])") }
    await settle()
    for get in gets {
      let last = writes.last { $0.time < get.time && $0.concerns(get.key) && $0.replaces }
      let late = get.recorder.values.first { !isCurrent($0, get.key, since: last?.time ?? 0) }
      if let late {
        return "then \(get.name), asked after “\(last?.name ?? "nothing")”, gave \(late)"
      }
    }
    return nil
  }

  /// Returns whether a value was written, or sent by a run that began, at that time or later.
  private func isCurrent(_ value: Value, _ key: Int, since time: Int) -> Bool {
    makings.contains { $0.key == key && $0.time >= time && $0.value == value }
  }

  /// Returns a finding for a get or write that has not ended exactly once, though its sources have.
  func openEnd() async -> String? {
    await finish()
    if let get = gets.first(where: \.isOpen) { return "then \(get.name) has not ended" }
    if let write = writes.first(where: { $0.outcome.end == nil }) {
      return "then “\(write.name)” has not ended"
    }
    for get in gets {
      if let violation = get.recorder.violations.first { return "\(get.name): \(violation)" }
    }
    return nil
  }

  /// Returns a finding for work that remains after all gets have been answered.
  func leftAfterEnd() async -> String? {
    await finish()
    return await left().map { "when all gets had been answered, \($0)" }
  }

  /// Returns a finding for work that remains after all subscribers have left.
  func leftAfterLeaving() async -> String? {
    leaveAll()
    return await left().map { "when all callers had left, \($0)" }
  }

  private func left() async -> String? {
    // A fill may outlast its get, and may take time.
    let isQuiet = await wait {
      self.cache.flights.isEmpty && self.activeRuns.isEmpty && self.heldCount == 0
    }
    if isQuiet { return nil }
    let flights = cache.flights.map { "a flight for \($0.key)" }
    let runs = activeRuns.map { "run \($0.number) for \(keys[$0.key])" }
    let held = heldCount > 0 ? ["\(heldCount) gets of layers"] : []
    return "there was still " + (flights + runs + held).joined(separator: ", ")
  }
}
