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
  ) -> TimeLimited<Self> {
    TimeLimited(base: self, limit: limit, awaited: awaited, clock: clock)
  }
}

/// A source or cache whose gets have a time limit.
public struct TimeLimited<Base: Source>: GetWrapper {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
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
    Signal.deferred(ask).timeout(
      limit, awaiting: awaited, clock: clock, key: { String(withoutSecrets: key) })
  }
}

extension TimeLimited: Cache where Base: Cache {}
