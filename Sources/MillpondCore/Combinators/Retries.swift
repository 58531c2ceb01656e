public import MillpondSignals

extension Source {
  /// Repeats a failed get as `policy` says, and passes the last failure.
  ///
  /// A miss is not a failure. Values before a failure have been passed on already. Writes are not
  /// repeated.
  ///
  /// Apply this over limits, not under them: `source.rateLimited(…).limited(…).retrying(…)`. Then
  /// every attempt counts for ``Source/rateLimited(to:per:burst:maxWaiting:clock:)``, since the
  /// origin counts every request, and none holds a slot of
  /// ``Source/limited(to:reserved:maxWaiting:)`` during a pause.
  ///
  /// - Parameters:
  ///   - policy: The number of attempts, and the pauses between them.
  ///   - clock: The clock that measures the pauses.
  @inlinable
  public func retrying(
    _ policy: RetryPolicy, clock: any Clock<Duration> = ContinuousClock()
  ) -> Governed<Self> {
    Governed(self, by: .retry(policy, clock))
  }
}
