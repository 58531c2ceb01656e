import MillpondSignals

extension SignalLaws {
  struct Failure: Error {}

  func grammarFindings() async -> [String] {
    var findings: [String] = []
    for seed in 0..<24 {
      let source = LawSource()
      let recorder = Recorder<Output>().subscribe(to: operation(source.signal()))
      let story = play(seed: UInt64(seed), on: source)
      findings += await endFindings(recorder, "after \(story)")
    }
    return findings
  }

  /// Applies the operator to signals with an immediate answer, or that send inside the
  /// subscription.
  func settledFindings() async -> [String] {
    let sources: [(String, Signal<Int>)] = [
      ("just", .just(1)), ("empty", .empty), ("a failure", .fail(Failure())),
      ("three at once", .of(1, 2, 3)),
    ]
    var findings: [String] = []
    for (name, signal) in sources {
      let recorder = Recorder<Output>().subscribe(to: operation(signal))
      for _ in 0..<3 { passTime() }
      findings += await endFindings(recorder, "after \(name)")
    }
    return findings
  }

  func progressFindings() async -> [String] {
    let source = LawSource()
    let recorder = Recorder<Output>().subscribe(to: operation(source.signal()))
    source.send(.progress(SignalProgress(completed: 1, total: 2)))
    passTime()
    source.end(.completed, passTime)
    passTime()
    let findings = await endFindings(recorder, "after progress")
    return findings + (recorder.progress.isEmpty ? ["progress was not passed on"] : [])
  }

  /// Sends a random history, ends it, and returns its description.
  private func play(seed: UInt64, on source: LawSource) -> String {
    var generator = SeededGenerator(seed: seed)
    var story: [String] = []
    for _ in 0..<Int.random(in: 0..<12, using: &generator) {
      let number = Int.random(in: 0..<10, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: source.send(.progress(SignalProgress(completed: number, total: 10)))
      case 1: passTime()
      default: source.send(.next(number))
      }
      story.append("\(number)")
    }
    let fails = Bool.random(using: &generator)
    source.end(fails ? .failed(Failure()) : .completed, passTime)
    for _ in 0..<3 { passTime() }
    return "\(story.count) steps and \(fails ? "a failure" : "a completion"), seed \(seed)"
  }

  func endFindings(_ recorder: Recorder<Output>, _ story: String) async -> [String] {
    let hasEnded = await happens(within: timeLimit) { try await recorder.ended() }
    let violations = recorder.violations.map { "\($0) \(story)" }
    recorder.dispose()
    return violations + (hasEnded ? [] : ["no end \(story)"])
  }
}
