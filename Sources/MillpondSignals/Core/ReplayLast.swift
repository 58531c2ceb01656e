extension Signal {
  /// Shares one run among all subscribers, and repeats its latest value to late ones.
  ///
  /// The first subscriber starts the run. A later one receives the latest progress and value, and
  /// then the events that follow. After the end, every subscriber receives the last value and the
  /// end. ``started(resetsOnFailure:)`` is the same without waiting for a subscriber.
  ///
  /// - Parameters:
  ///   - policy: The fate of a run whose last subscriber leaves before its end.
  ///   - resetsOnFailure: Whether a run that fails is forgotten, with its values: its subscribers
  ///     receive the failure, and the next one starts a new run. Otherwise the failure is repeated.
  @inlinable
  public func replayLast(
    _ policy: ReplayPolicy = .cancelWhenUnobserved, resetsOnFailure: Bool = false
  ) -> Signal {
    Replay(self, policy, resetsOnFailure ? .afterFailure : .never).signal(emptyError)
  }
}

/// The current run of a shared signal, which stays when it has settled.
///
/// ``ReplayPhase`` decides, under a lock, which subscriber starts or cancels a run; each run
/// delivers its own events.
@usableFromInline
@_fixed_layout
package final class Replay<Value: Sendable>: Sendable {
  @usableFromInline let phase: Locked<ReplayPhase<Value>>
  @usableFromInline let policy: ReplayPolicy

  /// Creates a replay of `upstream`.
  @inlinable
  package init(_ upstream: Signal<Value>, _ policy: ReplayPolicy, _ reset: ReplayReset = .never) {
    phase = Locked(ReplayPhase(upstream, reset))
    self.policy = policy
  }

  /// Without help, the release of nested replays would recurse.
  deinit {
    var upstream = phase.withLock { $0.takeUpstream() }
    if upstream != nil { releaseNested(&upstream, leaving: nil) }
  }

  /// Returns the events of the run, for subscribers from now on.
  @inlinable
  package func signal(_ emptyError: (any Emptiness.Type)? = nil) -> Signal<Value> {
    Signal(
      start: { self.subscribe($0, $1) },
      // With the lock inlined: it is most of what a settled replay costs.
      now: { self.phase.gate.withLock { self.phase.state.settledValue() } },
      emptyError: emptyError)
  }

  /// Starts a run, or joins the present one.
  @inlinable
  package func subscribe(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    let (run, isNew) = phase.withLock { $0.enter() }
    join(run, observer, lifetime)
    if isNew { start(run) }
  }

  /// Starts the run without a subscriber, unless there is one.
  @inlinable
  package func start() {
    let (run, isNew) = phase.withLock { $0.enter() }
    if isNew { start(run) }
  }

  @inlinable
  func join(_ run: Run<Value>, _ observer: Observer<Value>, _ lifetime: Lifetime) {
    let number = run.join(observer, lifetime)
    lifetime.onEnd {
      if run.hasEnded { return }
      run.leave(number)
      let isCancelled = self.phase.withLock { $0.leave(run, self.policy) }
      if isCancelled { run.lifetime.end() }
    }
  }

  @inlinable
  func start(_ run: Run<Value>) {
    // The first subscriber may have left already.
    guard !run.lifetime.isEnded, let upstream = phase.withLock({ $0.upstream(policy) }) else {
      return
    }
    upstream.run(
      Observer(next: { run.next($0) }) { event in
        // On arrival, so that whoever comes before it is delivered finds the run settled, or starts
        // a new one.
        if event.isTerminal { self.phase.discard { $0.settle(run, event) } }
        run.other(event)
      }, run.lifetime)
  }
}

/// The present run, and whether its end has arrived.
@usableFromInline
@frozen
package struct ReplayPhase<Value: Sendable>: Sendable {
  /// The running or settled run, and the number of its subscribers.
  @usableFromInline var run: Run<Value>?
  @usableFromInline var subscribers = 0
  @usableFromInline var isSettled = false

  /// The last value of a completed run, once somebody has asked for it.
  @usableFromInline var value: Value?

  /// The signal to run; nil when it is needed no more.
  @usableFromInline var upstream: Signal<Value>?

  /// The end after which a run is forgotten, like a cancelled one.
  @usableFromInline let reset: ReplayReset

  @inlinable
  init(_ upstream: Signal<Value>, _ reset: ReplayReset) {
    self.upstream = upstream
    self.reset = reset
  }

  @inlinable
  mutating func settledValue() -> Value? {
    if let value { return value }
    if isSettled { value = run?.settledValue }
    return value
  }

  /// Returns the signal to run; if it is to run only once, releases it and its captures.
  @inlinable
  mutating func upstream(_ policy: ReplayPolicy) -> Signal<Value>? {
    policy == .keepRunning && reset == .never ? takeUpstream() : upstream
  }

  @inlinable
  mutating func takeUpstream() -> Signal<Value>? {
    exchange(&upstream, with: nil)
  }

  /// Returns the present run for one more subscriber, and whether it is to be started.
  @inlinable
  mutating func enter() -> (run: Run<Value>, isNew: Bool) {
    subscribers += 1
    if let run { return (run, false) }
    let new = Run<Value>(repeatsLatest: reset != .afterEnd)
    run = new
    subscribers = 1
    return (new, true)
  }

  /// Counts a departure; returns true if the run is to be cancelled.
  @inlinable
  mutating func leave(_ left: Run<Value>, _ policy: ReplayPolicy) -> Bool {
    guard run === left, !isSettled else { return false }
    subscribers -= 1
    guard subscribers == 0, policy == .cancelWhenUnobserved else { return false }
    run = nil
    return true
  }

  /// Notes the end of a run, unless it was cancelled; returns what is needed no more, for release
  /// after the unlock.
  @inlinable
  mutating func settle(_ settled: Run<Value>, _ end: Event<Never>) -> Signal<Value>? {
    guard run === settled else { return nil }
    if reset.isAfter(end) {
      run = nil
      return nil
    }
    isSettled = true
    return takeUpstream()
  }
}

/// The end after which a shared run is forgotten, so that the next subscriber starts a new one.
@usableFromInline
package enum ReplayReset: Sendable {
  case never, afterFailure

  /// After any end; of such a run nothing is repeated.
  case afterEnd

  @inlinable
  func isAfter(_ end: Event<Never>) -> Bool {
    switch self {
    case .never: false
    case .afterFailure: if case .failed = end { true } else { false }
    case .afterEnd: true
    }
  }
}

/// The fate of a shared run whose last subscriber leaves before its end.
public enum ReplayPolicy: Sendable {
  /// The run is disposed of and forgotten; the next subscriber starts a new one.
  case cancelWhenUnobserved

  /// The run continues to its end.
  case keepRunning
}
