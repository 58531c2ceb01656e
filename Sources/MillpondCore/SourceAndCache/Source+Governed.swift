public import Dispatch
public import MillpondSignals

// The policies of `Governed` that need no file of their own, as operators.

extension Source {
  /// Passes a get on only if `condition` holds for its key; each get checks anew.
  ///
  /// Otherwise the get fails with ``CacheError/refused(key:)``, since a miss would mean that there
  /// is no value. Errors of the condition fail the get unchanged. Writes are not checked. A hit
  /// stays immediate. In an upper layer a refusal counts as any other failure: the lower layer is
  /// asked.
  ///
  /// - Parameter condition: Called at every get, on its thread, so keep it cheap.
  public func conditioned(
    _ condition: @escaping @Sendable (Key) throws -> Bool
  ) -> Governed<Self> {
    Governed(self, by: .condition(condition))
  }

  /// Passes a get on only if `condition`, which takes time, holds for its key.
  ///
  /// Otherwise the same as the form with a synchronous condition, but there are no immediate hits.
  ///
  /// - Parameter condition: Runs in a task, which is cancelled when the caller leaves.
  public func conditioned(
    _ condition: @escaping @Sendable (Key) async throws -> Bool
  ) -> Governed<Self> {
    Governed(self, by: .lateCondition(condition))
  }

  /// Repeats a failed get as `policy` says, and passes the last failure.
  ///
  ///     people.retrying(3)  // three attempts in all, unless another one can't succeed
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
  public func retrying(
    _ policy: RetryPolicy, clock: any Clock<Duration> = ContinuousClock()
  ) -> Governed<Self> {
    Governed(self, by: .retry(policy, clock))
  }

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
  public func timingOut(
    after limit: Duration, awaiting awaited: TimeoutAwaited = .end,
    clock: any Clock<Duration> = ContinuousClock()
  ) -> Governed<Self> {
    Governed(self, by: .timeout(limit, awaiting: awaited, clock))
  }

  /// Delivers all answers on `queue`, immediate hits included; `dispatch` in Carlos.
  ///
  /// Writes are carried out at once, on the caller's thread. Apply this over
  /// ``Source/reusingInFlight(maxFlights:clock:)``: under it, late subscribers may be served on
  /// another thread.
  ///
  /// - Parameter queue: A serial or concurrent queue; deliveries of one get never overlap.
  public func delivered(on queue: DispatchQueue) -> Governed<Self> {
    Governed(self, by: .queue(queue))
  }
}
