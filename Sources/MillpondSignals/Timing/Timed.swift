// MARK: - The rule

/// The rule of a timed operator: pure, given the time, with a deadline for the next step.
@usableFromInline
package protocol TimedRule<Value>: Sendable {
  associatedtype Value: Sendable

  /// The time of the next ``wake(at:)``; nil if none is needed.
  var deadline: Duration? { get }

  /// Returns the event to send at once for an event of the upstream, if any.
  ///
  /// A rule sends more than one event by leaving a deadline that has passed.
  mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>?

  /// Returns the event to send at the deadline, if any, and moves or clears the deadline.
  mutating func wake(at now: Duration) -> Event<Value>?
}

// MARK: - The operator

extension Signal {
  /// Runs the signal through a rule, which is made for each run with the start time.
  ///
  /// The engine of the operators that wait.
  @inlinable
  package func timed<Rule: TimedRule<Value>>(
    on scheduler: Scheduler, now: (@Sendable () -> Value?)? = nil,
    _ rule: @escaping @Sendable (_ beginning: Duration) -> Rule
  ) -> Signal {
    derived(now: now) { observer, lifetime in
      let timed = Timed(observer, lifetime.child(), scheduler, rule(scheduler.now()))
      timed.post(.began)
      if !timed.lifetime.isEnded { run(timed.observer, timed.upstream) }
    }
  }
}

// MARK: - The engine

/// An engine that sends the events of a rule, and keeps one timer.
///
/// A deadline that moves away leaves the timer as it is; a timer that fires too early is set again.
/// So a burst of values costs one timer, not one for each.
@usableFromInline
@_fixed_layout
final class Timed<Rule: TimedRule>: @unchecked Sendable {
  // Sendable because its variables are touched only with the mailbox's turn.
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let upstream: Lifetime
  @usableFromInline let scheduler: Scheduler
  @usableFromInline let mailbox = Mailbox<TimedMessage<Rule.Value>>()
  @exclusivity(unchecked) @usableFromInline var downstream: Observer<Rule.Value>?
  @exclusivity(unchecked) @usableFromInline var rule: Rule?

  /// The lifetime of the timer, which ends with the run, also without the mailbox's turn; nil while
  /// there is none.
  @exclusivity(unchecked) @usableFromInline var timer: Lifetime?
  @exclusivity(unchecked) @usableFromInline var timerTime = Duration.zero

  @inlinable
  init(
    _ downstream: Observer<Rule.Value>, _ lifetime: Lifetime, _ scheduler: Scheduler, _ rule: Rule
  ) {
    self.downstream = downstream
    self.lifetime = lifetime
    self.scheduler = scheduler
    self.rule = rule
    upstream = lifetime.child()
  }

  @inlinable
  var observer: Observer<Rule.Value> {
    Observer(next: { self.post(.event(.next($0))) }) { event in
      if event.isTerminal { self.upstream.end() }
      self.post(.event(event.typed()))
    }
  }

  @inlinable
  func post(_ message: TimedMessage<Rule.Value>) {
    mailbox.post(message, replaces: TimedMessage.replaces) { receive($0) }
  }

  @inlinable
  func receive(_ message: TimedMessage<Rule.Value>) {
    if rule == nil { return }
    if lifetime.isEnded { return close() }
    switch message {
    case .began: break
    case .event(let event):
      let now = scheduler.now()
      if let event = rule?.received(event, at: now) { send(event) }
      wake(at: now)
    case .fired(let fired):
      guard fired.core === timer?.core else { return }
      timer = nil
      wake(at: scheduler.now())
    }
    setTimer()
  }

  @inlinable
  func wake(at now: Duration) {
    while let deadline = rule?.deadline, deadline <= now, !lifetime.isEnded {
      if let event = rule?.wake(at: now) { send(event) }
    }
  }

  @inlinable
  func send(_ event: Event<Rule.Value>) {
    guard let downstream, !lifetime.isEnded else { return }
    if event.isTerminal {
      close()
      lifetime.end()
    }
    downstream.send(event)
  }

  /// Releases the rule and the downstream, at the end or after the subscriber has left.
  @inlinable
  func close() {
    rule = nil
    downstream = nil
  }

  @inlinable
  func setTimer() {
    let next = rule?.deadline
    if timer != nil, let next, timerTime <= next { return }
    timer?.end()
    timer = nil
    guard let deadline = next else { return }
    let pause = lifetime.child()
    timer = pause
    timerTime = deadline
    scheduler.schedule(after: deadline - scheduler.now(), during: pause) {
      self.post(.fired(pause))
    }
  }
}

@usableFromInline
enum TimedMessage<Value: Sendable>: Sendable {
  case began
  case event(Event<Value>)

  /// The timer with this lifetime has fired.
  case fired(Lifetime)

  /// Conflates progress: of two waiting events in a row, the newer makes the older superfluous.
  @inlinable
  static func replaces(_ last: Self, _ new: Self) -> Bool {
    if case .event(.progress) = last, case .event(.progress) = new { true } else { false }
  }
}
