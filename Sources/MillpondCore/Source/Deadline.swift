public import MillpondSignals

/// The moment at which a caller stops waiting for an answer.
public struct Deadline: Sendable {
  /// The moment on the timeline.
  private let moment: Duration

  /// The timeline that measures it.
  fileprivate let timeline: Timeline

  /// Returns a deadline that is `duration` from now; zero or less leaves time only for immediate
  /// answers.
  public static func after(
    _ duration: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Deadline {
    let timeline = Timeline(clock)
    return Deadline(moment: timeline.now() + duration, timeline: timeline)
  }

  /// The time that is left; negative after the deadline.
  public var remaining: Duration {
    moment - timeline.now()
  }
}

extension Signal {
  /// Fails with ``SignalError/timedOut`` if the end does not come by `deadline`.
  @usableFromInline
  package func ended(by deadline: Deadline) -> Signal {
    ended { run, end in
      let timer = deadline.timeline.schedule(after: deadline.remaining) {
        end(.failed(SignalError.timedOut))
      }
      run.onEnd { timer.dispose() }
    }
  }
}
