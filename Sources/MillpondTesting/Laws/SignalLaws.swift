public import MillpondSignals

/// The signal contract, as checks that run on an operator.
///
///     let laws = SignalLaws { $0.map { $0 + 1 } }
///     let breaches = await laws.breaches()
///     #expect(breaches.isEmpty)  // in two steps, so that a failure shows them
///
/// The checks apply the operator to sources of their own, which keep the contract, or are a
/// ``CallbackSource``, and may be subscribed to more than once. When the source ends, the
/// operator's signal must end, so any other signals that take part have to end, too.
///
/// - Note: Blocks threads of its own, none of the cooperative pool.
public struct SignalLaws<Output: Sendable>: Sendable {
  let operation: @Sendable (Signal<Int>) -> Signal<Output>
  let passTime: @Sendable () -> Void
  let timeLimit: Duration

  /// Creates the checks of an operator.
  ///
  /// - Parameters:
  ///   - timeLimit: The time to wait for a required event before its absence counts as a breach.
  ///   - passTime: Lets enough time pass for any timer of the operator; called from any thread.
  ///   - operation: Applies the operator to a source, anew for each check.
  public init(
    timeLimit: Duration = Watchdog.limit, passTime: @escaping @Sendable () -> Void = {},
    _ operation: @escaping @Sendable (Signal<Int>) -> Signal<Output>
  ) {
    self.operation = operation
    self.passTime = passTime
    self.timeLimit = timeLimit
  }

  /// Runs the checks of `laws`, and returns the breaches; empty for an operator that keeps them.
  public func breaches(of laws: [SignalLaw] = SignalLaw.allCases) async -> [Breach<SignalLaw>] {
    var breaches: [Breach<SignalLaw>] = []
    for law in laws { breaches += Set(await findings(of: law)).sorted().map { Breach(law, $0) } }
    return breaches
  }

  private func findings(of law: SignalLaw) async -> [String] {
    switch law {
    case .grammar: await grammarFindings() + settledFindings()
    case .progress: await progressFindings()
    case .silence:
      silenceFindings()
        + (await silenceInCallbackFindings(isGated: true)
          + silenceInCallbackFindings(isGated: false))
    case .teardown: await teardownFindings()
    case .release: await releaseFindings()
    case .serial: await overlapFindings() + reentryFindings()
    case .noLock: await lockFindings()
    case .containment: await containmentFindings()
    }
  }
}

/// A rule that every operator keeps.
public enum SignalLaw: Sendable, Hashable, CaseIterable {
  /// Values and progress, and exactly one terminal event after the source's end.
  case grammar

  /// Progress of the source is passed on.
  case progress

  /// After disposal nothing is delivered, and the source is stopped.
  ///
  /// That holds even if the lifetime ends inside a delivery, without a gate in front of the
  /// observer.
  case silence

  /// Each run of the source is torn down exactly once, however it ends.
  case teardown

  /// After the end, nothing retains captures of the source or the observer.
  case release

  /// Deliveries never overlap, on any threads and from inside a callback.
  case serial

  /// No thread that sends, passes time or disposes waits for a callback on another thread.
  case noLock

  /// With a callback API as the source, the operator breaks no other law.
  ///
  /// The API, wrapped by `Signal.create`, cannot be cancelled, and calls back late, twice, from
  /// several threads and after its end.
  case containment
}
