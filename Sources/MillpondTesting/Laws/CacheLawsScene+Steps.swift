import MillpondCore

// The steps.
extension CacheLawsScene {
  func get(_ step: Step) -> String? {
    let (key, freshness) = (keys[step.key], step.freshness)
    get(cache, step.key, freshness, "get \(gets.count + 1) of \(key)")
    return "get \(key)" + (freshness == .any ? "" : ", \(freshness)")
  }

  func leave(_ step: Step) -> String? {
    chosen(step, gets.filter(\.isOpen)).map { get in
      get.leave()
      return "\(get.name) leaves"
    }
  }

  func set(_ step: Step) -> String? {
    let value = make(for: step.key, time)
    return write("set \(keys[step.key]) = \(value)", [step.key]) {
      cache.set(value, for: keys[step.key])
    }
  }

  func remove(_ step: Step) -> String? {
    write("remove \(keys[step.key])", [step.key]) { cache.remove(keys[step.key]) }
  }

  func removeAll(_ step: Step) -> String? {
    write("remove all", nil) { cache.removeAll() }
  }

  func removeMatching(_ step: Step) -> String? {
    let numbers = keys.indices.filter { (step.pick + 1) & 1 << $0 != 0 }
    let removed = Set(numbers.map { keys[$0] })
    let names = numbers.map { "\(keys[$0])" }.joined(separator: " and ")
    return write("remove all of \(names)", Set(numbers)) {
      cache.removeAll { removed.contains($0) }
    }
  }

  func place(_ step: Step) -> String? {
    let value = make(for: step.key, time)
    return write("place \(keys[step.key]) = \(value) in layer \(step.layer)", [step.key]) {
      layers[step.layer].base.set(value, for: keys[step.key])
    }
  }

  func failGets(_ step: Step) -> String? {
    layers[step.layer].failGets(of: keys[step.key], with: failure(step))
    return "gets of \(keys[step.key]) in layer \(step.layer) \(step.isOn ? "fail" : "work")"
  }

  func failChanges(_ step: Step) -> String? {
    layers[step.layer].failChanges(of: keys[step.key], with: failure(step))
    return "sets of \(keys[step.key]) in layer \(step.layer) \(step.isOn ? "fail" : "work")"
  }

  private func failure(_ step: Step) -> CacheLawsError? {
    step.isOn ? CacheLawsError(layer: step.layer) : nil
  }

  func hold(_ step: Step) -> String? {
    layers[step.layer].holdAnswers(step.isOn)
    return "layer \(step.layer) \(step.isOn ? "holds answers back" : "answers at once")"
  }

  func give(_ step: Step) -> String? {
    let held = layers.indices.flatMap { layer in
      (0..<layers[layer].heldCount).map { (layer, $0) }
    }
    return chosen(step, held).map { layer, index in
      layers[layer].give(index)
      return "layer \(layer) gives the answer number \(index + 1) of those held back"
    }
  }

  func send(_ step: Step) -> String? {
    act(step) { "sends \(send($0, ends: false)) and continues" }
  }

  func answer(_ step: Step) -> String? {
    act(step) { "answers \(send($0, ends: true))" }
  }

  func miss(_ step: Step) -> String? {
    act(step) { run in
      run.run.completed()
      return "ends"
    }
  }

  func fail(_ step: Step) -> String? {
    act(step) { run in
      run.run.failed(CacheLawsError(layer: nil))
      return "fails"
    }
  }

  private func act(_ step: Step, _ act: (CacheLawsRun<Value>) -> String) -> String? {
    chosen(step, activeRuns).map { run in "run \(run.number) for \(keys[run.key]) \(act(run))" }
  }

  /// Sends the next value, and returns it.
  func send(_ run: CacheLawsRun<Value>, ends: Bool) -> Value {
    // Recorded first, because the value is received inside the call.
    let value = make(for: run.key, run.time)
    run.run.next(value)
    if ends { run.run.completed() }
    return value
  }

  private func chosen<Element>(_ step: Step, _ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[step.pick % elements.count]
  }
}
