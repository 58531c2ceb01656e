public import MillpondSignals

/// The time until which an asker will wait.
public struct Deadline: Sendable {
  /// When it is, on its timeline.
  private let moment: Duration

  /// By what it is told.
  fileprivate let timeline: Timeline

  /// So long from now; zero or less is over already, unless the answer is there at once.
  public static func after(
    _ duration: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Deadline {
    let timeline = Timeline(clock)
    return Deadline(moment: timeline.now() + duration, timeline: timeline)
  }

  /// What is left of it; negative if it is over.
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
