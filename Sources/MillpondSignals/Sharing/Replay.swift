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
    switch phase.withLock({ $0.enter { ReplayedRun(for: self) } }) {
    case .settled(let value, let end):
      if let value { observer.next(value) }
      if !lifetime.isEnded { observer.other(end) }
    case .joins(let run): join(run, observer, lifetime)
    case .starts(let run):
      join(run, observer, lifetime)
      start(run)
    }
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
    // Both keep this: a run only refers to it.
    upstream.run(
      Observer(next: { self.pass(.next($0), to: run) }, other: { self.pass($0.typed(), to: run) }),
      run.lifetime)
  }

  @inlinable
  func pass(_ event: Event<Value>, to run: ReplayedRun<Value>) {
    switch event {
    case .next(let value): run.next(value)
    case .progress(let progress): run.other(.progress(progress))
    case .failed(let error): run.other(.failed(error))
    case .completed: run.other(.completed)
    }
  }

  /// Remembers the end of a run, unless that was cancelled.
  @inlinable
  func settle(_ run: ReplayedRun<Value>, _ value: Value?, _ end: Event<Never>) {
    let unneeded = phase.withLock { $0.settle(run, value, end) }
    _ = unneeded  // released here, not under the lock
  }
}

/// Which run there is.
@usableFromInline
package struct ReplayPhase<Value: Sendable>: Sendable {
  @usableFromInline enum State: Sendable {
    case idle
    case running(ReplayedRun<Value>, subscribers: Int)
    case settled(Value?, Event<Never>)
  }

  @usableFromInline
  enum Entrance {
    case starts(ReplayedRun<Value>)
    case joins(ReplayedRun<Value>)
    case settled(Value?, Event<Never>)
  }

  @usableFromInline var state = State.idle
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
    if case .settled(let value?, .completed) = state { value } else { nil }
  }

  @inlinable
  mutating func enter(_ make: () -> ReplayedRun<Value>) -> Entrance {
    switch state {
    case .idle:
      let run = make()
      state = .running(run, subscribers: 1)
      return .starts(run)
    case .running(let run, let subscribers):
      state = .running(run, subscribers: subscribers + 1)
      return .joins(run)
    case .settled(let value, let end): return .settled(value, end)
    }
  }

  /// Whether the run is to be cancelled, since its last subscriber has left.
  @inlinable
  mutating func leave(_ run: ReplayedRun<Value>, _ policy: ReplayPolicy) -> Bool {
    guard case .running(let current, let subscribers) = state, current === run else {
      return false
    }
    if subscribers == 1, policy == .cancelWhenUnobserved {
      state = .idle
      return true
    }
    state = .running(current, subscribers: subscribers - 1)
    return false
  }

  /// Remembers the end of a run, unless that was cancelled; what is not needed any more is given back.
  @inlinable
  mutating func settle(
    _ run: ReplayedRun<Value>, _ value: Value?, _ end: Event<Never>
  ) -> Signal<Value>? {
    guard case .running(let current, _) = state, current === run else { return nil }
    state = .settled(value, end)
    return takeUpstream()
  }
}
