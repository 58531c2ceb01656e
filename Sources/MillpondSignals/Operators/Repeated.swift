extension Signal {
  /// Runs the signal again when it completes, `times` times in all; a failure ends everything.
  ///
  /// The completion of the last run passes, and progress is that of the running one, so it may
  /// restart. For a pause between the runs, append one:
  ///
  ///     let pause = Signal<Void>.timer(after: .seconds(30)).ignoreValues(as: Answer.self)
  ///     let polled = ask().concat(pause).repeated()
  ///
  /// Before each run the subscription is checked, so disposal ends a repetition also between runs.
  /// But a signal that completes inside its subscription keeps the subscribing thread until then:
  /// one that is repeated for ever, even an empty one, is ended from a callback, by an operator
  /// below such as ``take(_:)``, or from another thread by ``take(until:)`` or
  /// ``timeout(_:awaiting:clock:)``.
  ///
  /// - Parameter times: The number of runs in all, by default without end; with zero or less, the
  ///   signal completes at once, and nothing runs.
  /// - Complexity: Constant stack and memory, even if all runs complete inside their subscriptions.
  @inlinable
  public func repeated(_ times: Int = .max) -> Signal {
    if times <= 0 { return .empty }
    return times == 1 ? self : concat(.deferred { repeated(times - 1) })
  }
}
