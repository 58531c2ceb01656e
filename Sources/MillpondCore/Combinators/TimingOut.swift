public import MillpondSignals

extension Source {
  /// Cancels a get and fails it with `SignalError.timedOut` if the awaited event is late.
  ///
  /// The limit applies to the work: it runs from the start of the get here, for all callers that
  /// share it. The limit of a single caller is a ``Deadline``. Writes are not limited.
  ///
  /// - Parameters:
  ///   - limit: The time for the awaited event; zero or less leaves time only for immediate
  ///     answers.
  ///   - awaited: The event that has to arrive within the limit; by default the end.
  ///   - clock: The clock that measures the limit.
  @inlinable
  public func timingOut(
    after limit: Duration, awaiting awaited: TimeoutAwaited = .end,
    clock: any Clock<Duration> = ContinuousClock()
  ) -> Governed<Self> {
    Governed(self, by: .timeout(limit, awaiting: awaited, clock))
  }
}
