public import MillpondSignals

/// The signal contract, as checks that run on an operator.
///
///     let laws = SignalLaws { $0.map { $0 + 1 } }
///     #expect(await laws.breaches().isEmpty)
///
/// The operator is given sources of the checks' own, which send as the contract says, or are a
/// ``CallbackSource``, and may be subscribed to more than once. Where it ends, so must what the operator makes of it; other
/// signals that take part have to end too.
///
/// - Note: Blocks threads of its own, none of the cooperative pool.
public struct SignalLaws<Output: Sendable>: Sendable {
  let operation: @Sendable (Signal<Int>) -> Signal<Output>
  let passTime: @Sendable () -> Void
  let patience: Duration

  /// The checks of an operator.
  ///
  /// - Parameters:
  ///   - patience: How long to wait for what must happen before it counts as a breach.
  ///   - passTime: Lets enough time pass for whatever the operator waits for; called from any
  ///     thread.
  ///   - operation: Applies the operator to a source, anew for each check.
  public init(
    patience: Duration = Watchdog.limit, passTime: @escaping @Sendable () -> Void = {},
    _ operation: @escaping @Sendable (Signal<Int>) -> Signal<Output>
  ) {
    self.operation = operation
    self.passTime = passTime
    self.patience = patience
  }

  /// Runs the checks of `laws`, and gives what was wrong; empty for an operator that keeps them.
  public func breaches(of laws: [SignalLaw] = SignalLaw.allCases) async -> [SignalBreach] {
    var breaches: [SignalBreach] = []
    for law in laws {
      for description in Set(await findings(of: law)).sorted() {
        breaches.append(SignalBreach(law: law, description: description))
      }
    }
    return breaches
  }

  private func findings(of law: SignalLaw) async -> [String] {
    switch law {
    case .grammar: await grammarFindings() + settledFindings()
    case .progress: await progressFindings()
    case .silence:
      silenceFindings() + (await silenceInCallbackFindings() + silenceWithoutGateFindings())
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
  /// Values and progress, and after the source's end exactly one terminal event.
  case grammar

  /// Progress of the source is passed on.
  case progress

  /// After disposal nothing is delivered, and the source is told to stop; also where the lifetime
  /// ends inside a delivery, and no gate is in front of the observer.
  case silence

  /// Each run of the source is torn down, once, whichever way it ends.
  case teardown

  /// After the end nothing keeps what the source or the observer has captured.
  case release

  /// Deliveries don't overlap, from whichever thread and from inside a callback.
  case serial

  /// No thread that sends, passes time or disposes waits for a callback that runs on another.
  case noLock

  /// A source made by `Signal.create` around a callback API that can't be cancelled, and calls back
  /// late, twice, from several threads and after its end, makes it break no other law.
  case containment
}

/// What an operator did against a law.
public struct SignalBreach: Sendable, Equatable, CustomStringConvertible {
  /// The law that it broke.
  public let law: SignalLaw

  /// What happened.
  public let description: String
}
