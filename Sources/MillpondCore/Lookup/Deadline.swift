public import MillpondSignals

/// The moment at which a caller stops waiting for an answer.
public struct Deadline: Sendable {
  /// The moment on the scheduler.
  private let moment: Duration

  /// The time that was allowed.
  fileprivate let limit: Duration

  /// The scheduler that measures it.
  fileprivate let scheduler: Scheduler

  /// Returns a deadline that is `duration` from now; zero or less leaves time only for immediate
  /// answers.
  ///
  /// - Parameters:
  ///   - duration: The time from now.
  ///   - clock: The clock that measures the time.
  public static func after(
    _ duration: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Deadline {
    let scheduler = Scheduler(clock)
    return Deadline(
      moment: scheduler.now() + duration.addable, limit: duration, scheduler: scheduler)
  }

  /// The time that is left; negative after the deadline.
  public var remaining: Duration {
    moment - scheduler.now()
  }

  /// Returns the moment at which a share of the remaining time is over.
  func after(share: Double) -> Deadline {
    Deadline(
      moment: moment - max(.zero, remaining) * (1 - share), limit: limit * share,
      scheduler: scheduler)
  }
}

extension Signal {
  /// Fails with `SignalError.timedOut` if the end does not arrive by `deadline`.
  ///
  /// - Parameter key: Returns the text of the key for the error; nil without a key.
  @usableFromInline
  package func ended(
    by deadline: Deadline, key: (@Sendable () -> String)? = nil
  ) -> Signal {
    ended { run, end in
      let timer = deadline.scheduler.schedule(after: deadline.remaining) {
        end(.failed(SignalError.timedOut(after: deadline.limit, key: key?())))
      }
      run.onEnd { timer.dispose() }
    }
  }
}
