import MillpondSignals

extension SignalLaws {
  /// Applies the operator to a callback API that answers at any time.
  func containmentFindings() async -> [String] {
    await disorderFindings() + latenessFindings()
  }

  /// Sends values and several ends from several threads at once, and more events after them.
  private func disorderFindings() async -> [String] {
    var findings: [String] = []
    for round in 0..<8 {
      let source = CallbackSource<Int>()
      let recorder = Recorder<Output>().subscribe(to: operation(source.signal))
      let end: Event<Int> = round.isMultiple(of: 2) ? .completed : .failed(Failure())
      let isDone = await onThreads(
        within: timeLimit,
        [
          {
            // Sends also to runs that the end of another one starts.
            var sent = 0
            for _ in 0..<100 {
              let new = source.runs.dropFirst(sent)
              sent += new.count
              for run in new {
                run.sendAtOnce([.next(1), .next(2), end, .next(3), end, .completed])
              }
              passTime()
            }
            source.next(4)
            source.completed()
            passTime()
          }
        ])
      if !isDone { findings.append("a thread of a callback API is stuck") }
      findings += await endFindings(recorder, "of a callback API that ends several times at once")
    }
    return findings
  }

  /// Sends events after disposal.
  ///
  /// A delivery on another thread may have begun before the disposal, so only an operator that
  /// delivers late each time breaks the promise.
  private func latenessFindings() -> [String] {
    (0..<3).filter { count in (0..<4).allSatisfy { _ in deliversLate(after: count) } }
      .map { "disposed of after \($0) values, what a callback API sent late was delivered" }
  }

  private func deliversLate(after count: Int) -> Bool {
    let source = CallbackSource<Int>()
    let lifetime = Lifetime()
    let late = Locked(0)
    let receive = { @Sendable in if lifetime.isEnded { late.withLock { $0 += 1 } } }
    operation(source.signal).run(
      Observer(next: { _ in receive() }, other: { _ in receive() }), lifetime)
    for value in 0..<count { source.next(value) }

    lifetime.end()
    for run in source.runs {
      run.send(.progress(SignalProgress(completed: 1)))
      run.sendAtOnce([.next(8), .next(9), .failed(Failure()), .completed])
    }
    for _ in 0..<3 { passTime() }
    return late.withLock { $0 } > 0
  }
}
