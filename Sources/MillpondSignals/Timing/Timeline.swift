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
    let timer = DispatchTimer(source)
    source.setEventHandler {
      source.cancel()
      action()
    }
    source.schedule(deadline: .now() + .nanoseconds(delay.nanoseconds))
    source.activate()
    return Disposable { timer.cancel() }
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

/// Sendable because a dispatch source may be cancelled from any thread.
private final class DispatchTimer: @unchecked Sendable {
  private let source: any DispatchSourceTimer

  init(_ source: any DispatchSourceTimer) {
    self.source = source
  }

  func cancel() {
    source.cancel()
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
