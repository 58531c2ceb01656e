/// A set of timers that are rarely due, on one timer of the clock.
///
/// The clock's timer is set for an earlier entry and after it fires, but not when an entry is
/// cancelled. So a transfer that ends in time costs the system no timer, and the last timer may
/// fire without an effect.
package final class SharedTimers: Sendable {
  /// The timers of the continuous clock for the whole process.
  package static let continuous = SharedTimers(Scheduler(ContinuousClock()))

  private let scheduler: Scheduler
  private let state = Locked(SharedTimersState())

  package init(_ scheduler: Scheduler) {
    self.scheduler = scheduler
  }

  package func now() -> Duration { scheduler.now() }

  package func schedule(
    after delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> Disposable {
    let due = scheduler.now() + delay.addable
    let (number, step) = state.withLock { $0.add(SharedTimer(due: due, action: action)) }
    if let step { setTimer(step) }
    return Disposable {
      self.state.discard { $0.waiting.remove(number) }
    }
  }

  private func setTimer(_ step: SharedTimersState.Step) {
    let timer = scheduler.schedule(after: step.due - scheduler.now()) { self.fire(step.number) }
    // The former timer; or this one, if there was a later step in between.
    let superfluous = state.withLock { $0.keep(timer, step.number) }
    superfluous?.dispose()
  }

  private func fire(_ number: Int) {
    let now = scheduler.now()
    let (due, step, former) = state.withLock { $0.fire(number, at: now) }
    withExtendedLifetime(former) {}  // released here, not under the lock
    for entry in due { entry.action() }
    if let step { setTimer(step) }
  }
}

/// An entry with its time.
private struct SharedTimer: Sendable {
  let due: Duration
  let action: @Sendable () -> Void
}

/// The entries, and the step for which the clock's timer is set.
private struct SharedTimersState: Sendable {
  /// A timer to set.
  struct Step: Sendable {
    let due: Duration
    let number: Int
  }

  var waiting = Registry<SharedTimer>()
  private var stepCount = 0
  private var current: Step?
  private var timer: Disposable?

  mutating func add(_ entry: SharedTimer) -> (number: Int, step: Step?) {
    let number = waiting.add(entry)
    if let current, current.due <= entry.due { return (number, nil) }
    return (number, step(entry.due))
  }

  /// Keeps a timer; returns the one that is not needed.
  mutating func keep(_ timer: Disposable, _ number: Int) -> Disposable? {
    guard current?.number == number else { return timer }
    return exchange(&self.timer, with: timer)
  }

  /// Returns the entries that are due, and the timer to set for the rest; nothing for an outdated
  /// timer.
  mutating func fire(
    _ number: Int, at now: Duration
  ) -> (due: [SharedTimer], step: Step?, former: Disposable?) {
    guard current?.number == number else { return ([], nil, nil) }
    let former = exchange(&timer, with: nil)
    current = nil
    let due = waiting.numbered.filter { $0.element.due <= now }
    for (number, _) in due { _ = waiting.remove(number) }  // still in `due`
    return (due.map(\.element), waiting.elements.map(\.due).min().map { step($0) }, former)
  }

  private mutating func step(_ due: Duration) -> Step {
    stepCount += 1
    let step = Step(due: due, number: stepCount)
    current = step
    return step
  }
}
