public import Synchronization

/// One shared run of a signal, its latest value and its end.
///
/// Two parts: `phase`, under a lock, decides who starts and who cancels a run, and answers for a
/// settled one; the mailbox delivers, so that arrivals, departures and events have one order.
@usableFromInline
package final class Replay<Value: Sendable>: @unchecked Sendable {
  // Sendable because `cast` is touched only by whoever has the mailbox's turn.
  @usableFromInline let phase: Locked<ReplayPhase<Value>>
  @usableFromInline let policy: ReplayPolicy
  @usableFromInline let mailbox = Mailbox<ReplayMessage<Value>>()
  @usableFromInline let arrivals = Atomic(0)
  @exclusivity(unchecked) @usableFromInline var cast = ReplayCast<Value>()

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

  /// What the run sends, for those who come now.
  @inlinable
  package var signal: Signal<Value> {
    Signal(start: { self.subscribe($0, $1) }, now: { self.settledValue })
  }

  /// Starts a run or joins the running one; a settled run is repeated.
  @inlinable
  package func subscribe(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    switch phase.withLock({ $0.enter() }) {
    case .settled(let value, let end):
      if let value { observer.next(value) }
      if !lifetime.isEnded { observer.other(end) }
    case .joins(let run):
      admit(observer, lifetime, run)
    case .starts(let run):
      admit(observer, lifetime, run)
      start(run)
    case .stopped: break
    }
  }

  /// Starts the run without a subscriber, if it isn't running or settled.
  @inlinable
  package func start() {
    if case .starts(let run) = phase.withLock({ $0.enter() }) { start(run) }
  }

  /// Disposes of the run for good, unless it has settled: nobody may want to subscribe any more.
  @inlinable
  package func stop() {
    let (run, unneeded) = phase.withLock { ($0.stop(), $0.takeUpstream()) }
    run?.lifetime.end()
    _ = unneeded  // released here, not under the lock
  }

  @inlinable
  func admit(_ observer: Observer<Value>, _ lifetime: Lifetime, _ run: ReplayRun) {
    let number = arrivals.add(1, ordering: .relaxed).newValue
    let member = Member(number, observer, lifetime)
    var left: [Observer<Value>] = []
    mailbox.post(
      .arrival(run.number, member), immediately: { welcome(member, to: run.number) },
      receive: { receive($0, &left) })
    withExtendedLifetime(left) {}
    lifetime.onEnd { self.leave(number, run) }
  }

  @inlinable
  func start(_ run: ReplayRun) {
    // Who subscribed may have left already.
    guard !run.lifetime.isEnded, let upstream = phase.withLock({ $0.upstream(policy) }) else {
      return
    }
    upstream.run(
      Observer(
        next: { self.post(.event(run.number, .next($0))) },
        other: { self.post(.event(run.number, $0.typed())) }),
      run.lifetime)
  }

  @inlinable
  func leave(_ number: Int, _ run: ReplayRun) {
    // The end of a settled run has let go of its members.
    if run.lifetime.isEnded, phase.withLock({ $0.isSettled }) { return }
    let left = mailbox.actQuietly(orPost: .departure(number)) { cast.members.remove(number) }
    let isCancelled = phase.withLock { $0.leave(run, policy) }
    if isCancelled { run.lifetime.end() }
    _ = left  // released here, where neither the lock nor the turn is held
  }

  @inlinable
  func post(_ message: ReplayMessage<Value>) {
    var left: [Observer<Value>] = []
    mailbox.post(message, replaces: ReplayMessage.replaces) { receive($0, &left) }
    withExtendedLifetime(left) {}
  }

  /// - Parameter left: Takes the observers of those who leave, to be released after the turn.
  @inlinable
  func receive(_ message: ReplayMessage<Value>, _ left: inout [Observer<Value>]) {
    switch message {
    case .arrival(let number, let member): welcome(member, to: number)
    case .departure(let number):
      if let observer = cast.members.remove(number) { left.append(observer) }
    case .event(let number, let event): deliver(event, of: number)
    }
  }

  @inlinable
  func welcome(_ member: Member<Value>, to number: Int) {
    if member.lifetime.isEnded { return }
    cast.turn(to: number)
    if let progress = cast.progress { member.observer.progress(progress) }
    if let value = cast.value, !member.lifetime.isEnded { member.observer.next(value) }
    if let end = cast.end {
      if !member.lifetime.isEnded { member.observer.other(end) }
    } else {
      cast.members.add(member)
    }
  }

  @inlinable
  func deliver(_ event: Event<Value>, of number: Int) {
    guard cast.turn(to: number), cast.end == nil else { return }
    switch event {
    case .next(let value):
      cast.value = value
      cast.members.next(value)
    case .progress(let progress):
      cast.progress = progress
      cast.members.other(.progress(progress))
    case .failed(let error): end(.failed(error), of: number)
    case .completed: end(.completed, of: number)
    }
  }

  @inlinable
  func end(_ end: Event<Never>, of number: Int) {
    let members = cast.end(by: end)
    let value = cast.value
    let (run, unneeded) = phase.withLock { phase in
      let run = phase.settle(number, value, end)
      return (run, run == nil ? nil : phase.takeUpstream())
    }
    run?.lifetime.end()
    _ = unneeded  // released here, not under the lock
    members.other(end)
  }
}

/// Which run there is.
@usableFromInline
package struct ReplayPhase<Value: Sendable>: Sendable {
  @usableFromInline enum State: Sendable {
    case idle
    case running(ReplayRun, subscribers: Int)
    case settled(Value?, Event<Never>)
    case stopped
  }

  @usableFromInline
  enum Entrance {
    case starts(ReplayRun)
    case joins(ReplayRun)
    case settled(Value?, Event<Never>)
    case stopped
  }

  @usableFromInline var state = State.idle
  @usableFromInline var upstream: Signal<Value>?
  @usableFromInline var lastNumber = 0

  @inlinable
  init(_ upstream: Signal<Value>) {
    self.upstream = upstream
  }

  /// What is to be run.
  ///
  /// Where there is only one run it is let go of, and with it what it captured.
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
  var isSettled: Bool {
    if case .settled = state { true } else { false }
  }

  @inlinable
  mutating func enter() -> Entrance {
    switch state {
    case .idle:
      lastNumber += 1
      let run = ReplayRun(number: lastNumber)
      state = .running(run, subscribers: 1)
      return .starts(run)
    case .running(let run, let subscribers):
      state = .running(run, subscribers: subscribers + 1)
      return .joins(run)
    case .settled(let value, let end):
      return .settled(value, end)
    case .stopped:
      return .stopped
    }
  }

  /// Whether the run is to be cancelled, since its last subscriber has left.
  @inlinable
  mutating func leave(_ run: ReplayRun, _ policy: ReplayPolicy) -> Bool {
    guard case .running(let current, let subscribers) = state, current.number == run.number else {
      return false
    }
    if subscribers == 1, policy == .cancelWhenUnobserved {
      state = .idle
      return true
    }
    state = .running(current, subscribers: subscribers - 1)
    return false
  }

  /// Lets no run begin any more, and gives back the one there is.
  @inlinable
  mutating func stop() -> ReplayRun? {
    switch state {
    case .running(let run, _):
      state = .stopped
      return run
    case .idle: state = .stopped
    case .settled, .stopped: break
    }
    return nil
  }

  /// Remembers the end of a run, which is given back; nil if that run was cancelled.
  @inlinable
  mutating func settle(_ number: Int, _ value: Value?, _ end: Event<Never>) -> ReplayRun? {
    guard case .running(let run, _) = state, run.number == number else { return nil }
    state = .settled(value, end)
    return run
  }
}

/// One run; a later one has a higher number.
@usableFromInline
package struct ReplayRun: Sendable {
  @usableFromInline let number: Int
  @usableFromInline let lifetime = Lifetime()

  @inlinable
  init(number: Int) {
    self.number = number
  }
}

/// What is delivered, and to whom.
@usableFromInline
struct ReplayCast<Value: Sendable>: ~Copyable {
  @usableFromInline var members = Members<Value>()
  @usableFromInline var progress: SignalProgress?
  @usableFromInline var value: Value?
  @usableFromInline var end: Event<Never>?
  @usableFromInline var number = 0

  /// Forgets what an older run left; false if `number` is of an older run itself.
  @discardableResult
  @inlinable
  mutating func turn(to newNumber: Int) -> Bool {
    guard newNumber > number else { return newNumber == number }
    self = ReplayCast(number: newNumber)
    return true
  }

  /// Lets go of the members, who are to be told.
  @inlinable
  mutating func end(by newEnd: Event<Never>) -> Members<Value> {
    end = newEnd
    progress = nil
    return exchange(&members, with: Members())
  }

  @inlinable
  init() {}

  @inlinable
  init(number: Int) {
    self.number = number
  }
}

@usableFromInline
enum ReplayMessage<Value: Sendable>: Sendable {
  case arrival(Int, Member<Value>)
  case departure(Int)
  case event(Int, Event<Value>)

  @inlinable
  static func replaces(_ last: ReplayMessage, _ new: ReplayMessage) -> Bool {
    if case .event(let old, .progress) = last, case .event(let number, .progress) = new {
      old == number
    } else {
      false
    }
  }
}
