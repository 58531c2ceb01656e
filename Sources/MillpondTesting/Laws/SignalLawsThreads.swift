import MillpondSignals

extension SignalLaws {
  /// Feeds each run of the source on its own thread, while another thread passes time.
  func overlapFindings() async -> [String] {
    var findings: [String] = []
    for round in 0..<20 {
      let source = LawSource()
      let recorder = Recorder<Output>()
      recorder.subscribe(to: operation(source.signal())) { _ in pauseBriefly() }
      let end: Event<Int> = round.isMultiple(of: 2) ? .completed : .failed(Failure())
      var bodies: [@Sendable () -> Void] = source.runs.map { run in
        { @Sendable in
          for value in 0..<40 { run.send(.next(value)) }
          run.send(end)
        }
      }
      bodies.append { for _ in 0..<40 { passTime() } }
      if await !onThreads(within: timeLimit, bodies) { findings.append("a thread is stuck") }
      source.end(end, passTime)
      for _ in 0..<3 { passTime() }
      findings += await endFindings(recorder, "on several threads")
    }
    return findings
  }

  /// Sends and passes time from inside the first callbacks.
  func reentryFindings() async -> [String] {
    let source = LawSource()
    let recorder = Recorder<Output>()
    let budget = Locked(3)
    let isDone = await onThreads(
      within: timeLimit,
      [
        {
          recorder.subscribe(to: operation(source.signal())) { event in
            let isWithin = budget.withLock {
              $0 -= 1
              return $0 >= 0
            }
            guard isWithin, !event.isTerminal else { return }
            source.send(.next(7))
            passTime()
          }
          for value in 0..<4 {
            source.send(.next(value))
            passTime()
          }
          source.end(.completed, passTime)
          passTime()
        }
      ])
    if !isDone { return ["sending from inside a callback is stuck"] }
    return await endFindings(recorder, "sending from inside a callback")
  }
}

/// Spends a moment, so that another delivery has time to overlap.
private func pauseBriefly() {
  let moment = Locked(0)
  for _ in 0..<200 { moment.withLock { $0 += 1 } }
}
