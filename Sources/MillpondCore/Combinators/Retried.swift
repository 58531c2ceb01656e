public import MillpondSignals

extension Source {
  /// Asks again when a get fails, as `policy` says; the last failure passes.
  ///
  /// A miss is no failure. Values that came before a failure have been passed on already. Tellings are
  /// not repeated.
  ///
  /// Call it on the limits, not under them: `source.rateLimited(…).limited(…).retrying(…)`. Then every
  /// attempt counts for ``Source/rateLimited(to:per:burst:clock:)``, and none holds a slot of
  /// ``Source/limited(to:reserved:)`` while it pauses.
  @inlinable
  public func retrying(
    _ policy: RetryPolicy, clock: any Clock<Duration> = ContinuousClock()
  ) -> Retried<Self> {
    Retried(base: self, policy: policy, clock: clock)
  }
}

/// A source or cache of which gets that fail are repeated.
public struct Retried<Base: Source>: Detour {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
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
    .asked { asker in
      Signal.deferred(ask).inContext(of: asker).retry(policy, clock: clock)
    }
  }
}

extension Retried: Cache where Base: Cache {}
