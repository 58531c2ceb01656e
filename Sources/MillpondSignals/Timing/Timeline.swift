import Dispatch

/// The one way to tell time and to set timers, adapted from any clock.
@usableFromInline
package struct Timeline: Sendable {
  /// How much time has passed since a beginning that only this timeline knows.
  ///
  /// Never less than before: a clock that is set back counts as one that stood still for a moment.
  ///
  /// A `Duration`, not an instant: those are opaque to the optimiser, which would cost every entry
  /// of a cache a table of witnesses.
  @usableFromInline package let now: @Sendable () -> Duration

  private let timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Disposable

  /// The timeline of `clock`.
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

  /// Runs `action` once, when `delay` has passed; a delay of zero or less has passed already, but
  /// the action still runs later.
  @usableFromInline
  package func schedule(
    after delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> Disposable {
    timer(delay, action)
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
    let task = Task {
      guard (try? await clock.sleep(for: delay)) != nil, !Task.isCancelled else { return }
      action()
    }
    return Disposable { task.cancel() }
  }
}

extension Duration {
  /// Whole nanoseconds, at least zero, at most what an `Int` holds.
  package var nanoseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return .max }
    let (sum, sumOverflow) = product.addingReportingOverflow(Int(attoseconds / 1_000_000_000))
    return sumOverflow ? .max : sum
  }
}

/// A clock that can call back by itself, without a task that sleeps.
///
/// What a manual clock adopts to make timers deterministic.
public protocol TimerClock: Clock where Duration == Swift.Duration {
  /// Runs `action` once, when `delay` has passed.
  ///
  /// - Returns: The handle that calls it off.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Disposable
}

/// How much time has passed by the readings of a clock that may be set back.
///
/// A step back counts as no time: what has passed never becomes less, and goes on from there with the
/// next reading.
struct PassedTime: Sendable {
  /// By how much readings of different threads may come in another order than they were taken.
  private static let disorder = Duration.seconds(1)

  /// The time that has passed by the readings that `reading` takes.
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

  /// The time that has passed by a reading, counted from the first one.
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
