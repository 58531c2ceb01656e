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

/// The current run of a shared signal, and its last value and end when it has settled.
///
/// ``ReplayPhase`` decides, under a lock, which subscriber starts or cancels a run; each run
/// delivers its own events.
@usableFromInline
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
      now: { self.phase.gate.withLock { self.phase.state.settledValue } },
      emptyError: emptyError)
  }

  /// Starts a run, joins the running one, or repeats the settled one.
  @inlinable
  package func subscribe(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    switch phase.withLock({
      $0.enter { ReplayedRun(for: phase, within: lifetime, repeatsLatest: $0) }
    }) {
    case .settled: repeatEnd(observer, lifetime)
    case .joins(let run): join(run, observer, lifetime)
    case .starts(let run):
      join(run, observer, lifetime)
      start(run)
    }
  }

  @inlinable
  func repeatEnd(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    let (value, end) = phase.withLock { ($0.value, $0.end) }
    if let value { observer.next(value) }
    if let end, !lifetime.isEnded { observer.other(end) }
  }

  @inlinable
  func join(_ run: ReplayedRun<Value>, _ observer: Observer<Value>, _ lifetime: Lifetime) {
    let number = run.join(observer, lifetime)
    lifetime.onEnd {
      if run.hasEnded { return }
      run.leave(number)
      let isCancelled = self.phase.withLock { $0.leave(run, self.policy) }
      if isCancelled { run.lifetime.end() }
    }
  }

  @inlinable
  func start(_ run: ReplayedRun<Value>) {
    // The first subscriber may have left already.
    guard !run.lifetime.isEnded, let upstream = phase.withLock({ $0.upstream(policy) }) else {
      return
    }
    // The upstream's observer retains the replay, since a run refers to it only unowned.
    upstream.run(
      Observer(
        next: { value in withExtendedLifetime(self) { run.next(value) } },
        other: { event in
          withExtendedLifetime(self) {
            // On arrival, so that whoever comes before it is delivered starts a new run.
            if event.isTerminal, !run.repeatsLatest { run.settle(event) }
            run.other(event)
          }
        }), run.lifetime)
  }
}
