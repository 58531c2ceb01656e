public import MillpondSignals

extension Source {
  /// Starts at most `count` gets in `period`, after a burst; the others wait, the most urgent first,
  /// then in order.
  ///
  /// A bucket holds up to `burst` tokens, is full at first, and gets `count` new ones spread evenly
  /// over each period. A get spends one when it starts; who leaves before that spends none. What is
  /// there at once needs none, nor does an ask for what is cached only. Tellings are not limited.
  ///
  /// Call it next to the origin, under ``Source/retrying(_:clock:)`` and
  /// ``Source/hedged(with:after:clock:)``: over them, only the first attempt of a get spends a token.
  ///
  /// - Parameters:
  ///   - count: How many; less than one is taken as one.
  ///   - period: Of zero or less there is no limit; more than a hundred years are taken as that.
  ///   - burst: How many may start at once after a pause; less than one is taken as one.
  /// - Complexity: O(log *n*) to wait, of *n* that do; one timer for all of them.
  @inlinable
  public func rateLimited(
    to count: Int, per period: Duration, burst: Int = 1,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> RateLimited<Self> {
    let pace = Pace(count: count, period: period, burst: burst, Timeline(clock))
    return RateLimited(base: self, pace: pace)
  }
}

/// A source or cache of which few gets start in any period.
public struct RateLimited<Base: Source>: Detour {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let pace: Pace
  @usableFromInline var title: String { pace.title }

  @inlinable
  init(base: Base, pace: Pace) {
    self.base = base
    self.pace = pace
  }

  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    .inTurn(lookup, ask) { pace.take(lookup, $0, $1) }
  }
}

extension RateLimited: Cache where Base: Cache {}
