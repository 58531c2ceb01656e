import Dispatch
import Synchronization

/// The single source of time and timers, adapted from any clock.
@usableFromInline
package struct Scheduler: Sendable {
  /// Returns the time that has passed since a start that only this scheduler knows.
  ///
  /// It never decreases: a step back of the clock counts as no time.
  ///
  /// A `Duration`, not an instant: instants are opaque to the optimiser, and would cost every entry
  /// of a cache a witness table.
  @usableFromInline package let now: @Sendable () -> Duration

  private let timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Disposable

  /// Creates the scheduler of `clock`.
  @usableFromInline
  package init(_ clock: some Clock<Duration>) {
    let beginning = clock.now
    let reading = { @Sendable in beginning.duration(to: clock.now) }
    if clock is ContinuousClock {
      self.init(now: reading, timer: Self.dispatchTimer)
      return
    }
    let now = clock is SuspendingClock ? reading : PassedTime.passed(by: reading)
    if let timers = clock as? any TimerClock {
      self.init(now: now, timer: { timers.schedule(after: $0, $1) })
    } else {
      self.init(now: now, timer: { Self.taskTimer(clock, $0, $1) })
    }
  }

  /// Runs `action` once, when `delay` has passed; on a clock that sleeps, after a hundred years at
  /// the latest.
  ///
  /// A delay of zero or less has passed already, but does not run the action inside this call.
  @usableFromInline
  package func schedule(
    after delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> Disposable {
    timer(delay.addable, action)
  }

  /// Runs `action` once, when `delay` has passed, unless `pause` ends first.
  ///
  /// `pause` is a lifetime of this timer alone, a child of that of the work that waits. It ends
  /// before the action, so it keeps nothing of a timer that has fired. If another thread ends it at
  /// the moment of the action, the action may still run.
  @usableFromInline
  package func schedule(
    after delay: Duration, during pause: Lifetime, _ action: @escaping @Sendable () -> Void
  ) {
    let timer = schedule(after: delay) {
      pause.end()
      action()
    }
    pause.onEnd { timer.dispose() }
  }

  private init(
    now: @escaping @Sendable () -> Duration,
    timer: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Disposable
  ) {
    self.now = now
    self.timer = timer
  }

  private static func dispatchTimer(
    _ delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> Disposable {
    let source = DispatchSource.makeTimerSource(queue: .global(qos: .userInitiated))
    // A dispatch source may be cancelled from any thread.
    let timer = SerialState(source)
    source.setEventHandler {
      source.cancel()
      action()
    }
    source.schedule(deadline: .now() + .nanoseconds(delay.nanoseconds))
    source.activate()
    return Disposable { timer.value.cancel() }
  }

  private static func taskTimer(
    _ clock: some Clock<Duration>, _ delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> Disposable {
    // The action may dispose of its own timer, and must not find its task cancelled then.
    let isOver = AtomicValue(false)
    let task = Task {
      guard (try? await clock.sleep(for: delay.withinCentury)) != nil,
        !isOver.exchange(true, ordering: .acquiringAndReleasing)
      else { return }
      action()
    }
    return Disposable {
      if !isOver.exchange(true, ordering: .acquiringAndReleasing) { task.cancel() }
    }
  }
}

extension Duration {
  /// Whole nanoseconds, clamped to `0...Int.max`.
  package var nanoseconds: Int {
    // Not by components, which trap beyond the seconds of an `Int64`.
    Int(clamping: max(0, attoseconds / 1_000_000_000))
  }
}

/// A clock that can call back by itself, without a sleeping task.
///
/// A manual clock adopts it to make timers deterministic.
public protocol TimerClock: Clock where Duration == Swift.Duration {
  /// Runs `action` once, when `delay` has passed.
  ///
  /// - Returns: The handle that cancels it.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Disposable
}

/// The time that has passed by the readings of a clock that may be set back.
///
/// A step back counts as no time: the passed time never decreases, and continues from there with
/// the next reading.
struct PassedTime: Sendable {
  /// The span by which readings of different threads may arrive out of order.
  private static let disorder = Duration.seconds(1)

  /// Returns a closure that returns the time passed by the readings of `reading`.
  static func passed(by reading: @escaping @Sendable () -> Duration) -> @Sendable () -> Duration {
    let state = Locked(PassedTime())
    return {
      let reading = reading()
      return state.withLock { $0.pass(to: reading) }
    }
  }

  private var passed = Duration.zero

  /// The sum of all steps back.
  private var lost = Duration.zero

  /// Returns the time that has passed by a reading, counted from the first one.
  mutating func pass(to reading: Duration) -> Duration {
    let next = reading + lost
    if next >= passed {
      passed = next
    } else if passed - next > Self.disorder {
      lost = passed - reading
    }
    return passed
  }
}
