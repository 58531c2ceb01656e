import MillpondSignals

/// The end of a step of one member of a group, such as the flush of one of several caches.
struct StepReport: Sendable {
  let step: String

  /// The result of the step; nil if it was not done in time.
  let result: Result<Void, any Error>?

  /// Throws an error that names the steps that have failed or were not done in time, if there are
  /// any, in the order of the reports.
  static func check(_ reports: [StepReport]) throws {
    let failures = reports.compactMap { report -> (step: String, error: any Error)? in
      if case .failure(let error)? = report.result { (report.step, error) } else { nil }
    }
    let failure = failures.isEmpty ? nil : CacheError.stepsFailed(failures)
    let unfinished = reports.filter { $0.result == nil }.map(\.step)
    if !unfinished.isEmpty { throw CacheError.unfinished(steps: unfinished, underlying: failure) }
    if let failure { throw failure }
  }
}

extension Signal<Void> {
  /// Sends one report when this outcome ends, and nothing else; never fails.
  func report(as step: String) -> Signal<StepReport> {
    Signal<StepReport> { observer, lifetime in
      let receive: @Sendable (Event<Never>) -> Void = { event in
        switch event {
        case .progress: return
        case .failed(let error): observer.next(StepReport(step: step, result: .failure(error)))
        case .completed: observer.next(StepReport(step: step, result: .success(())))
        }
        if !lifetime.isEnded { observer.completed() }
      }
      run(Observer(next: { _ in }, other: receive), lifetime)
    }
  }
}

extension Signal<StepReport> {
  /// Returns the outcome of all steps, which sends a value if `check` throws no error.
  ///
  /// - Parameters:
  ///   - total: The number of steps; the progress of the outcome counts those that have ended.
  ///   - check: Receives the reports of all steps, in the order in which they have ended.
  func outcome(
    ofSteps total: Int, check: @escaping @Sendable ([StepReport]) throws -> Void
  ) -> Signal<Void> {
    .create { observer, lifetime in
      scan([StepReport]()) { $0 + [$1] }.startWith([])
        .onNext { observer.progress(SignalProgress(completed: $0.count, total: total)) }
        .last().attemptMap(check)
        .run(observer, lifetime)
    }
  }
}
