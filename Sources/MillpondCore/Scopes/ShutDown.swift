public import MillpondSignals

extension Source {
  /// Ends the work of a composition in order: nothing new is fetched, what runs ends, what is
  /// unsaved is flushed, and files are closed.
  ///
  ///     try await users.shutDown(deadline: .after(.seconds(5))).value
  ///
  /// Starts at once. From then on each get that would have to ask a ``stoppable()`` part, a
  /// multiplexer's origin or a media cache's network fails with ``CacheError/shutDown(key:)``; gets
  /// that a cache answers succeed, those of a disk cache until it is closed. Gets that run may use
  /// half of the time, and are cancelled then, also if their work ignores that. The flush may use
  /// half of the time that is left, and closing the rest. Sources without ``stoppable()`` are not
  /// stopped.
  ///
  /// A further call does what is left to do. To end many caches together, add them to a
  /// ``Repository``.
  ///
  /// - Parameter deadline: The moment at which the outcome fails if not all is done.
  /// - Returns: The outcome, replayed, which may be ignored. Its progress counts finished steps.
  ///   It fails with ``CacheError/unfinished(steps:underlying:)`` at the deadline, or, after all
  ///   steps, with ``CacheError/stepsFailed(_:)``.
  @discardableResult
  public func shutDown(deadline: Deadline) -> Signal<Void> {
    let topology = topology(for: nil)
    return ShutDown(parts: [topology.shutDownPart(named: topology.label)], deadline: deadline)
      .run().started()
  }
}

/// The steps that end the work of several parts together.
struct ShutDown: Sendable {
  /// A part that takes part in each step.
  struct Part: Sendable {
    let name: String
    let stop: @Sendable (Deadline) -> Signal<Void>
    let flush: @Sendable () -> Signal<Void>
    let close: @Sendable () -> Signal<Void>
  }

  /// The end of a step of one part.
  private struct Report: Sendable {
    enum Ending: Sendable {
      case done
      case failed(any Error)
      case unfinished
    }

    let step: String
    let ending: Ending
  }

  let parts: [Part]
  let deadline: Deadline

  /// Returns the outcome; a step begins for all parts together, so that no part is closed while
  /// another one still writes to it.
  func run() -> Signal<Void> {
    let total = parts.count * 3
    return Signal.create { observer, lifetime in
      reports.scan([]) { $0 + [$1] }.startWith([])
        .onNext { observer.progress(SignalProgress(completed: $0.count, total: total)) }
        .last().attemptMap { try Self.check($0) }
        .run(observer, lifetime)
    }
  }

  private var reports: Signal<Report> {
    .deferred { [self] in
      let half = deadline.after(share: 0.5)
      // What runs is cancelled halfway; a part that ignores that has half of the rest.
      return step("stop", by: deadline.after(share: 0.75)) { $0.stop(half) }
        .concat(.deferred { step("flush", by: deadline.after(share: 0.5)) { $0.flush() } })
        .concat(.deferred { step("close", by: deadline) { $0.close() } })
    }
  }

  private func step(
    _ name: String, by limit: Deadline, _ act: (Part) -> Signal<Void>
  ) -> Signal<Report> {
    .merge(
      parts.map { part in
        act(part).ignoreValues(as: Report.Ending.self).concat(.just(.done))
          .recover { .just(.failed($0)) }
          .ended(by: limit).recover { _ in .just(.unfinished) }
          .take(1).map { Report(step: "\(name) of \(part.name)", ending: $0) }
      })
  }

  private static func check(_ reports: [Report]) throws {
    let failures = reports.compactMap { report -> (step: String, error: any Error)? in
      if case .failed(let error) = report.ending { (report.step, error) } else { nil }
    }
    let failure = failures.isEmpty ? nil : CacheError.stepsFailed(failures)
    let unfinished = reports.filter { report in
      if case .unfinished = report.ending { true } else { false }
    }
    if !unfinished.isEmpty {
      throw CacheError.unfinished(steps: unfinished.map(\.step), underlying: failure)
    }
    if let failure { throw failure }
  }
}

extension Topology {
  /// The steps for a composition.
  func shutDownPart(named name: String) -> ShutDown.Part {
    let controls = allControls
    return ShutDown.Part(
      name: name,
      stop: { limit in WriteOutcome.all(controls.compactMap { $0.stop?(limit) }) },
      flush: { flushed(.written) },
      close: { WriteOutcome.all(controls.compactMap { $0.close?() }) })
  }
}
