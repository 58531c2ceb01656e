public import MillpondSignals

/// A clock whose time passes only when a test advances it.
///
///     let clock = ManualClock()
///     let timer = clock.schedule(after: .seconds(5)) { print("five seconds") }
///     clock.advance(by: .seconds(5))
///
/// Timers fire on the thread that advances the clock, before ``advance(by:)`` returns, in order of
/// their time, and for equal times in the order in which they were set. A sleeping task is resumed
/// in the same order, but continues when its executor runs it.
///
/// A test calls ``step(by:)`` for a clock that jumps.
///
/// - Note: Any thread.
public final class ManualClock: TimerClock {
  /// A point in the time of a manual clock, counted from its creation.
  public struct Instant: InstantProtocol {
    /// The time since the clock was created.
    public let offset: Duration

    /// Creates the instant `offset` after the clock was created.
    public init(offset: Duration) {
      self.offset = offset
    }

    /// Returns the instant `duration` later.
    public func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset + duration)
    }

    /// Returns the time from this instant to `other`.
    public func duration(to other: Instant) -> Duration {
      other.offset - offset
    }

    /// Returns whether the first instant is earlier.
    public static func < (first: Instant, second: Instant) -> Bool {
      first.offset < second.offset
    }
  }

  private let timers = Watched(ManualTimers())

  /// Creates a clock at zero, with nothing scheduled.
  public init() {}

  /// The current instant, which changes only when a test advances or sets the clock.
  public var now: Instant {
    timers.state.now
  }

  /// Zero: the clock can be advanced by any duration.
  public var minimumResolution: Duration {
    .zero
  }

  /// The number of timers that have not fired and tasks that still sleep.
  public var pendingCount: Int {
    timers.state.waiting.count
  }

  /// Lets `duration` pass, and fires the timers that become due, each at its own time.
  ///
  /// A timer that is set by a firing one fires in the same call if it becomes due within it.
  ///
  /// - Parameter duration: With zero or less, only timers that are due now fire: time never runs
  ///   backwards, see ``step(by:)``.
  public func advance(by duration: Duration) {
    let target = now.advanced(by: max(.zero, duration))
    while let action = timers.change({ $0.popDue(by: target) }) { action() }
    timers.change { $0.reach(target) }
  }

  /// Sets the clock forward or back by `duration`, like a system clock, without passing time.
  ///
  /// Nothing fires. Timers that become due by this fire when the clock is advanced next; after a
  /// step back, timers wait longer.
  ///
  /// - Parameter duration: Negative for a step back, even to before the clock was created.
  public func step(by duration: Duration) {
    timers.change { $0.now = $0.now.advanced(by: duration) }
  }

  /// Lets time pass until nothing is scheduled.
  ///
  /// - Note: Never returns if each timer sets the next one.
  public func run() {
    while let action = timers.change({ $0.popDue(by: nil) }) { action() }
  }

  /// Runs `action` once, when the clock has been advanced by `delay`, and never inside this call.
  @discardableResult
  public func schedule(
    after delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> Disposable {
    schedule(at: now.advanced(by: delay), action)
  }

  /// Sleeps until the clock has been advanced to `deadline`.
  ///
  /// - Parameters:
  ///   - deadline: The time at which the task is resumed.
  ///   - tolerance: Ignored.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    if deadline <= now { return }
    try await Signal<Void> { [self] observer, lifetime in
      let timer = schedule(at: deadline) {
        observer.next(())
        observer.completed()
      }
      lifetime.onEnd { timer.dispose() }
    }.value
  }

  /// Waits until at least `count` timers or sleeping tasks are pending.
  ///
  /// For code that sets its timer in a task: wait for the timer, and then advance.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``.
  public func pending(count: Int) async throws {
    try await timers.wait(for: "\(count) pending timers") { $0.waiting.count >= count }
  }

  private func schedule(
    at deadline: Instant, _ action: @escaping @Sendable () -> Void
  ) -> Disposable {
    let timer = timers.change { $0.add(deadline, action) }
    return Disposable { [timers] in
      // Released after the unlock, with the captures of the action.
      _ = timers.change { $0.remove(timer) }
    }
  }
}

/// The pending timers of a manual clock, in reverse order, so that the next one is last.
struct ManualTimers: Sendable, CustomStringConvertible {
  struct Timer: Sendable {
    let deadline: ManualClock.Instant
    let number: Int
    let action: @Sendable () -> Void
  }

  var now = ManualClock.Instant(offset: .zero)
  var waiting: [Timer] = []
  private var lastNumber = 0

  var description: String {
    "\(waiting.count) pending at \(now.offset)"
  }

  mutating func add(
    _ deadline: ManualClock.Instant, _ action: @escaping @Sendable () -> Void
  ) -> Timer {
    lastNumber += 1
    let timer = Timer(deadline: deadline, number: lastNumber, action: action)
    waiting.insert(timer, at: place(of: timer))
    return timer
  }

  mutating func remove(_ timer: Timer) -> Timer? {
    let place = place(of: timer)
    guard place < waiting.count, waiting[place].number == timer.number else { return nil }
    return waiting.remove(at: place)
  }

  /// Removes the next action, if it is due by `target` or `target` is nil, and moves the clock to
  /// its time.
  mutating func popDue(by target: ManualClock.Instant?) -> (@Sendable () -> Void)? {
    guard let next = waiting.last else { return nil }
    if let target, next.deadline > target { return nil }
    waiting.removeLast()
    reach(next.deadline)
    return next.action
  }

  mutating func reach(_ instant: ManualClock.Instant) {
    now = max(now, instant)
  }

  /// Returns the first place whose timer is not later than `timer`.
  private func place(of timer: Timer) -> Int {
    partitionPoint(waiting.count) { isLater(waiting[$0], timer) }
  }

  private func isLater(_ first: Timer, _ second: Timer) -> Bool {
    (first.deadline, first.number) > (second.deadline, second.number)
  }
}
