/// The one run of a signal that there is at a time, and what is left of it after its end.
///
/// ``ReplayPhase`` decides, under a lock, who starts and who cancels a run; each run delivers its own events.
@usableFromInline
package final class Replay<Value: Sendable>: Sendable {
  @usableFromInline let phase: Locked<ReplayPhase<Value>>
  @usableFromInline let policy: ReplayPolicy

  /// Shares `upstream`.
  @inlinable
  package init(_ upstream: Signal<Value>, _ policy: ReplayPolicy) {
    phase = Locked(ReplayPhase(upstream))
    self.policy = policy
  }

  /// Released by themselves, replays of replays would recurse.
  deinit {
    var upstream = phase.withLock { $0.takeUpstream() }
    if upstream != nil { releaseNested(&upstream, leaving: nil) }
  }

  /// The last value of a run that has completed with one.
  @inlinable
  package var settledValue: Value? {
    phase.withLock { $0.settledValue }
  }

  /// The events of the run, for subscribers that come now.
  @inlinable
  package var signal: Signal<Value> {
    Signal(start: { self.subscribe($0, $1) }, now: { self.settledValue })
  }

  /// Starts a run or joins the running one; a settled run is repeated.
  @inlinable
  package func subscribe(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    switch phase.withLock({ $0.enter { ReplayedRun(for: self, lifetime.separate()) } }) {
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

  /// Starts the run without a subscriber, if it isn't running or settled.
  @inlinable
  package func start() {
    if case .starts(let run) = phase.withLock({ $0.enter { ReplayedRun(for: self) } }) {
      start(run)
    }
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
    // Who subscribed may have left already.
    guard !run.lifetime.isEnded, let upstream = phase.withLock({ $0.upstream(policy) }) else {
      return
    }
    // Both keep this, to which a run only refers.
    upstream.run(
      Observer(
        next: { value in withExtendedLifetime(self) { run.next(value) } },
        other: { event in withExtendedLifetime(self) { run.other(event) } }), run.lifetime)
  }

  /// Remembers the end of a run, unless that was cancelled.
  @inlinable
  func settle(_ run: ReplayedRun<Value>, _ value: Value?, _ end: Event<Never>) {
    let unneeded = phase.withLock { $0.settle(run, value, end) }
    _ = unneeded  // released here, not under the lock
  }
}

/// Which run there is, and what is left of a settled one.
///
/// Not an enum of its states: to look at one would copy the value in it.
@usableFromInline
package struct ReplayPhase<Value: Sendable>: Sendable {
  @usableFromInline
  enum Entrance {
    case starts(ReplayedRun<Value>)
    case joins(ReplayedRun<Value>)
    case settled
  }

  /// The run under way, and how many are subscribed to it.
  @usableFromInline var run: ReplayedRun<Value>?
  @usableFromInline var subscribers = 0

  /// The last value and the end of a settled run.
  @usableFromInline var value: Value?
  @usableFromInline var end: Event<Never>?

  @usableFromInline var upstream: Signal<Value>?

  @inlinable
  init(_ upstream: Signal<Value>) {
    self.upstream = upstream
  }

  /// The signal to be run; where there is only one run it is let go of, and with it what it captured.
  @inlinable
  mutating func upstream(_ policy: ReplayPolicy) -> Signal<Value>? {
    policy == .keepRunning ? takeUpstream() : upstream
  }

  @inlinable
  mutating func takeUpstream() -> Signal<Value>? {
    defer { upstream = nil }
    return upstream
  }

  @inlinable
  var settledValue: Value? {
    if case .completed? = end { value } else { nil }
  }

  @inlinable
  mutating func enter(_ make: () -> ReplayedRun<Value>) -> Entrance {
    if end != nil { return .settled }
    subscribers += 1
    if let run { return .joins(run) }
    let new = make()
    run = new
    subscribers = 1
    return .starts(new)
  }

  /// Whether the run is to be cancelled, since its last subscriber has left.
  @inlinable
  mutating func leave(_ left: ReplayedRun<Value>, _ policy: ReplayPolicy) -> Bool {
    guard run === left else { return false }
    subscribers -= 1
    guard subscribers == 0, policy == .cancelWhenUnobserved else { return false }
    run = nil
    return true
  }

  /// Remembers the end of a run, unless that was cancelled; what is not needed any more is given back.
  @inlinable
  mutating func settle(
    _ settled: ReplayedRun<Value>, _ newValue: Value?, _ newEnd: Event<Never>
  ) -> Signal<Value>? {
    guard run === settled else { return nil }
    run = nil
    value = newValue
    end = newEnd
    return takeUpstream()
  }
}
