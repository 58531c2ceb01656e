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
  ) -> Retried<Self> {
    Retried(base: self, policy: policy, clock: clock)
  }
}

/// A source or cache that repeats failed gets.
public struct Retried<Base: Source>: GetWrapper {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let policy: RetryPolicy
  @usableFromInline let clock: any Clock<Duration>
  @usableFromInline var title: String { "retrying" }

  @inlinable
  init(base: Base, policy: RetryPolicy, clock: any Clock<Duration>) {
    self.base = base
    self.policy = policy
    self.clock = clock
  }

  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    .withCaller { caller in
      Signal.deferred(ask).inContext(of: caller).retry(policy, clock: clock)
    }
  }
}

extension Retried: Cache where Base: Cache {}
