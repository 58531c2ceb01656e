public import MillpondSignals

extension Source {
  /// Fails a get with ``SignalError/timedOut`` if what is awaited doesn't come in time, and gives up
  /// the work.
  ///
  /// The limit is the work's: it counts from the start of the get here, and all who share the work
  /// share it. What one asker will wait for is said by a ``Deadline``. Tellings are not limited.
  ///
  /// - Parameters:
  ///   - limit: Of zero or less, only what is there at once is in time.
  ///   - awaited: What has to come within the limit; by default the end.
  @inlinable
  public func timingOut(
    after limit: Duration, awaiting awaited: TimeoutAwaited = .end,
    clock: any Clock<Duration> = ContinuousClock()
  ) -> TimeLimited<Self> {
    TimeLimited(base: self, limit: limit, awaited: awaited, clock: clock)
  }
}

/// A source or cache of which a get may last so long and no longer.
public struct TimeLimited<Base: Source>: Detour {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let limit: Duration
  @usableFromInline let awaited: TimeoutAwaited
  @usableFromInline let clock: any Clock<Duration>
  @usableFromInline var title: String { "timing out after \(limit.brief)" }

  @inlinable
  init(base: Base, limit: Duration, awaited: TimeoutAwaited, clock: any Clock<Duration>) {
    self.base = base
    self.limit = limit
    self.awaited = awaited
    self.clock = clock
  }

  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    Signal.deferred(ask).timeout(limit, awaiting: awaited, clock: clock)
  }
}

extension TimeLimited: Cache where Base: Cache {}
