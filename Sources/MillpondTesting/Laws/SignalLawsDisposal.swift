import MillpondSignals

extension SignalLaws {
  /// Returns the violations of the silence after disposal, by a source that stops when its lifetime
  /// ends.
  func silenceFindings() -> [String] {
    (0..<4).flatMap { count in
      let source = LawSource()
      let lifetime = Lifetime()
      let delivered = Locked(0)
      operation(source.signal()).run(counting(delivered), lifetime)
      for value in 0..<count { source.send(.next(value)) }

      lifetime.end()
      let before = delivered.withLock { $0 }
      let isStopped = !source.runs.contains(where: \.isActive)
      source.send(.next(9))
      for _ in 0..<3 { passTime() }
      source.end(.completed, passTime)

      var findings: [String] = []
      if !isStopped {
        findings.append("disposed of after \(count) values, the source was not stopped")
      }
      if delivered.withLock({ $0 }) > before {
        findings.append("disposed of after \(count) values, something was delivered later")
      }
      return findings
    }
  }

  /// Leaves inside the first value or the end.
  ///
  /// - Parameter isGated: Whether a subscriber leaves: events on their way to that callback's thread
  ///   stop at the end of the chain, not in every operator. Otherwise the lifetime ends as by an
  ///   operator downstream. There is no gate in between, so an operator that sends two events for
  ///   one must not send the second.
  func silenceInCallbackFindings(isGated: Bool) async -> [String] {
    let (source, lifetime, late) = (LawSource(), Lifetime(), Locked(0))
    let receive = { @Sendable (event: Event<Output>) in
      if lifetime.isEnded { late.withLock { $0 += 1 } }
      if case .progress = event { return }
      lifetime.end()
    }
    let signal = operation(source.signal())
    if isGated {
      let subscription = signal.subscribe(receive)
      lifetime.onEnd { subscription.dispose() }
    } else {
      signal.run(
        Observer(next: { receive(.next($0)) }, other: { receive($0.typed()) }), lifetime)
    }

    for value in 0..<4 {
      source.send(.next(value))
      passTime()
    }
    source.end(.completed, passTime)

    let isStopped = await isTornDown(source)
    let what = isGated ? "disposed of in a callback" : "when the lifetime ended in a callback"
    return (late.withLock { $0 } > 0 ? ["\(what), something was delivered later"] : [])
      + (isStopped ? [] : ["\(what), the source was not stopped"])
  }

  func teardownFindings() async -> [String] {
    var findings: [String] = []
    for ending in LawEnding.allCases {
      let source = LawSource()
      let recorder = Recorder<Output>().subscribe(to: operation(source.signal()))
      finish(source, recorder, ending)
      if ending != .disposed { findings += await endFindings(recorder, "when \(ending)") }
      let isTornDown = await isTornDown(source)
      recorder.dispose()
      let record = source.record.state
      if !isTornDown || record.teardowns != record.starts {
        findings.append(
          "\(record.teardowns) teardowns of \(record.starts) runs when \(ending)")
      }
    }
    return findings
  }

  private func isTornDown(_ source: LawSource) async -> Bool {
    await happens(within: timeLimit) {
      try await source.record.wait(for: "teardown") { $0.teardowns >= $0.starts }
    }
  }

  func releaseFindings() async -> [String] {
    var findings: [String] = []
    for ending in LawEnding.allCases {
      let releases = Watched(0)
      findings += await runWithWitnesses(ending, releases)
      let areReleased = await happens(within: timeLimit) {
        try await releases.wait(for: "release") { $0 == 2 }
      }
      if !areReleased { findings.append("\(2 - releases.state) of 2 are kept when \(ending)") }
    }
    return findings
  }

  /// Runs with one witness that the source's run captures, and one that the observer captures.
  private func runWithWitnesses(_ ending: LawEnding, _ releases: Watched<Int>) async -> [String] {
    let source = LawSource()
    let recorder = subscribe(to: source, LawWitness(releases), LawWitness(releases))
    finish(source, recorder, ending)
    let findings = ending == .disposed ? [] : await endFindings(recorder, "when \(ending)")
    return findings
  }

  private func subscribe(
    to source: LawSource, _ upper: LawWitness, _ lower: LawWitness
  ) -> Recorder<Output> {
    Recorder<Output>().subscribe(to: operation(source.signal(keeping: upper))) { _ in _ = lower }
  }

  private func finish(
    _ source: LawSource, _ recorder: Recorder<Output>, _ ending: LawEnding
  ) {
    for value in 0..<2 { source.send(.next(value)) }
    switch ending {
    case .completed: source.end(.completed, passTime)
    case .failed: source.end(.failed(Failure()), passTime)
    case .disposed: recorder.dispose()
    }
    passTime()
  }

  private func counting(_ delivered: Locked<Int>) -> Observer<Output> {
    Observer(
      next: { _ in delivered.withLock { $0 += 1 } },
      other: { _ in delivered.withLock { $0 += 1 } })
  }
}

/// The ways in which a run ends.
enum LawEnding: CaseIterable {
  case completed, failed, disposed
}
