public import MillpondSignals

extension Source {
  /// Ends the work of a composition in order: nothing new is fetched, what runs ends, what is
  /// unsaved is flushed, and files are closed.
  ///
  ///     try await users.shutDown(deadline: .after(.seconds(5)))
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
    let member = RepositoryMember(of: { topology }, flush: { topology.flushed(.written) })
    return ShutDown(parts: [(name: topology.label, member: member)], deadline: deadline)
      .run().started()
  }

  /// Shuts down, and returns when that is done: the form for asynchronous code.
  ///
  /// Cancelling the task ends the wait, with `CancellationError`, and not the shutdown.
  ///
  /// - Parameter deadline: The moment at which this fails if not all is done.
  /// - Throws: ``CacheError/unfinished(steps:underlying:)`` at the deadline, or, after all steps,
  ///   ``CacheError/stepsFailed(_:)``.
  public nonisolated(nonsending) func shutDown(deadline: Deadline) async throws {
    try await shutDown(deadline: deadline).value
  }
}

/// The steps that end the work of several parts together.
struct ShutDown: Sendable {
  let parts: [(name: String, member: RepositoryMember)]
  let deadline: Deadline

  /// Returns the outcome; a step begins for all parts together, so that no part is closed while
  /// another one still writes to it.
  func run() -> Signal<Void> {
    reports.outcome(ofSteps: parts.count * 3) { try StepReport.check($0) }
  }

  private var reports: Signal<StepReport> {
    .deferred { [self] in
      let half = deadline.after(share: 0.5)
      // What runs is cancelled halfway; a part that ignores that has half of the rest.
      return step("stop", by: deadline.after(share: 0.75)) { $0.stop(half) }
        .concat(.deferred { step("flush", by: deadline.after(share: 0.5)) { $0.flush() } })
        .concat(.deferred { step("close", by: deadline) { $0.close() } })
    }
  }

  private func step(
    _ name: String, by limit: Deadline, _ act: (RepositoryMember) -> Signal<Void>
  ) -> Signal<StepReport> {
    let reports = parts.map { part -> Signal<StepReport> in
      let step = "\(name) of \(part.name)"
      return act(part.member).report(as: step)
        .ended(by: limit).recover { _ in .just(StepReport(step: step, result: nil)) }
        .take(1)
    }
    return .merge(reports)
  }
}
