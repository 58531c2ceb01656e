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
  @usableFromInline let isSettled = Atomic(false)
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
    subscribe(observer, lifetime) { seat in lifetime.onEnd { self.leave(seat) } }
  }

  /// The same, for a subscriber that sees to it that the seat is left when its lifetime ends.
  @inlinable
  package func subscribe(
    _ observer: Observer<Value>, _ lifetime: Lifetime, isSeated: (ReplaySeat) -> Void
  ) {
    switch phase.withLock({ $0.enter() }) {
    case .settled: repeatEnd(observer, lifetime)
    case .joins(let run):
      isSeated(admit(observer, lifetime, run))
    case .starts(let run):
      isSeated(admit(observer, lifetime, run))
      start(run)
    case .stopped: break
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
  func admit(
    _ observer: Observer<Value>, _ lifetime: Lifetime, _ run: ReplayRun
  ) -> ReplaySeat {
    let seat = ReplaySeat(
      number: arrivals.add(1, ordering: .relaxed).newValue, run: run.number)
    var left: [Observer<Value>] = []
    mailbox.post(
      .arrival(seat.run, Member(seat.number, observer, lifetime)),
      immediately: { welcome(Member(seat.number, observer, lifetime), to: seat.run) },
      receive: { receive($0, &left) })
    withExtendedLifetime(left) {}
    return seat
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

  /// Leaves a seat, for good.
  @inlinable
  package func leave(_ seat: ReplaySeat) {
    // The end of a settled run has let go of its members.
    if isSettled.load(ordering: .acquiring) { return }
    let left = mailbox.actQuietly(orPost: .departure(seat.number)) {
      cast.members.remove(seat.number)
    }
    let cancelled = phase.withLock { $0.leave(seat.run, policy) }
    cancelled?.lifetime.end()
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
  func welcome(_ member: consuming Member<Value>, to number: Int) {
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
    if let run {
      isSettled.store(true, ordering: .releasing)
      run.lifetime.end()
    }
    _ = unneeded  // released here, not under the lock
    members.other(end)
  }
}

/// Which run there is.
///
/// Not an enum of its states: to look at one would copy the value in it.
@usableFromInline
package struct ReplayPhase<Value: Sendable>: Sendable {
  @usableFromInline
  enum Entrance {
    case starts(ReplayRun)
    case joins(ReplayRun)
    case settled
    case stopped
  }

  /// The run under way.
  @usableFromInline var run: ReplayRun?
  @usableFromInline var subscribers = 0
  @usableFromInline var isStopped = false

  /// What a run has settled with.
  @usableFromInline var value: Value?
  @usableFromInline var end: Event<Never>?
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
    if case .completed? = end { value } else { nil }
  }

  @inlinable
  mutating func enter() -> Entrance {
    if end != nil { return .settled }
    if isStopped { return .stopped }
    subscribers += 1
    if let run { return .joins(run) }
    lastNumber += 1
    let run = ReplayRun(number: lastNumber)
    self.run = run
    return .starts(run)
  }

  /// The run, if it is to be cancelled, since its last subscriber has left.
  @inlinable
  mutating func leave(_ number: Int, _ policy: ReplayPolicy) -> ReplayRun? {
    guard run?.number == number else { return nil }
    subscribers -= 1
    guard subscribers == 0, policy == .cancelWhenUnobserved else { return nil }
    return exchange(&run, with: nil)
  }

  /// Lets no run begin any more, and gives back the one there is.
  @inlinable
  mutating func stop() -> ReplayRun? {
    isStopped = true
    return exchange(&run, with: nil)
  }

  /// Remembers the end of a run, which is given back; nil if that run was cancelled.
  @inlinable
  mutating func settle(_ number: Int, _ value: Value?, _ end: Event<Never>) -> ReplayRun? {
    guard run?.number == number else { return nil }
    (self.value, self.end) = (value, end)
    return exchange(&run, with: nil)
  }
}

/// The place of a subscriber in a run.
@usableFromInline
package struct ReplaySeat: Sendable {
  @usableFromInline let number: Int
  @usableFromInline let run: Int

  @inlinable
  init(number: Int, run: Int) {
    self.number = number
    self.run = run
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
