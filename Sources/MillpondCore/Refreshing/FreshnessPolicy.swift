import MillpondSignals

/// A policy that says how long a stored value is fresh, and how a stale one may be used.
///
///     let policy = FreshnessPolicy(
///       freshFor: .after(.seconds(1_800)), usableFor: .after(.seconds(86_400)), stale: .atOnce)
///
/// Ages count from the moment a value left its origin, whatever layers stored it since.
public struct FreshnessPolicy: Sendable {
  /// The age at which a value becomes stale; until then it is the answer without asking the origin.
  public let freshFor: TimeToLive

  /// The age at which a stale value becomes unusable; from then on it counts as absent.
  public let usableFor: TimeToLive

  /// The use of stale values in gets that do not state their own.
  public let stale: StaleUse

  /// Whether a stale value may replace a fetch that failed with this error.
  public let staleOn: @Sendable (any Error) -> Bool

  /// The greatest share of `freshFor` that is taken off, differently for each key, from 0 to 1.
  public let jitter: Double

  /// The time before it becomes stale during which a get of a value also fetches a new one in the
  /// background.
  public let refreshAhead: Duration

  /// The time limit of a fetch that continues without a caller.
  public let refreshDeadline: Duration

  /// The greatest number of fetches that continue without a caller at a time.
  public let maxRefreshes: Int

  /// The time for which a failure answers further gets of its key; zero or less for none.
  public let failureLife: @Sendable (any Error) -> Duration

  /// The greatest age at which a value is fresh, without jitter; nil if it never becomes stale.
  @usableFromInline let greatestAge: Duration?

  /// Creates a policy; by default stored values stay fresh for ever.
  ///
  /// - Parameters:
  ///   - freshFor: The age at which a value becomes stale. With zero or less every get asks the
  ///     origin.
  ///   - usableFor: The age at which a stale value becomes unusable; it counts from the same moment
  ///     as `freshFor`.
  ///   - stale: The use of stale values in gets with ``Freshness/any`` that do not state their own.
  ///     A get that names an age, or reloads, gets a stale value only if it says so itself.
  ///   - staleOn: Whether a stale value may replace a fetch that failed with this error; by default
  ///     if the origin can't be reached.
  ///   - jitter: The greatest share of `freshFor` that is taken off, differently for each key, so
  ///     that values that arrived together are not all fetched together; from 0 to 1.
  ///   - refreshAhead: The time before it becomes stale during which a get of a value also fetches
  ///     a new one in the background.
  ///   - refreshDeadline: The time limit of a fetch that continues without a caller.
  ///   - maxRefreshes: The greatest number of such fetches at a time. A further one continues only
  ///     while a caller waits for it; a fetch ahead of time is then not made.
  ///   - failureLife: The time for which a failure answers further gets of its key, so that the
  ///     origin is not asked again and again for values that do not exist; zero or less for none.
  ///     An answer without a value is ``CacheError/miss`` here, and further gets are then misses.
  ///     Failures of 1,000 keys are remembered. A reload always asks the origin. A failure is not
  ///     remembered if it comes after a write of the key, after the outcome of a later reload, or
  ///     after the answer to a later fetch.
  public init(
    freshFor: TimeToLive = .forever, usableFor: TimeToLive = .forever,
    stale: StaleUse = .onNamedErrors,
    staleOn: @escaping @Sendable (any Error) -> Bool = { $0.isConnectivityError },
    jitter: Double = 0, refreshAhead: Duration = .zero, refreshDeadline: Duration = .seconds(60),
    maxRefreshes: Int = 64,
    failureLife: @escaping @Sendable (any Error) -> Duration = { _ in .zero }
  ) {
    self.freshFor = freshFor
    self.usableFor = usableFor
    self.stale = stale
    self.staleOn = staleOn
    self.jitter = jitter > 0 ? min(jitter, 1) : 0
    self.refreshAhead = refreshAhead.addable
    self.refreshDeadline = refreshDeadline
    self.maxRefreshes = maxRefreshes
    self.failureLife = failureLife
    greatestAge =
      if case .after(let duration) = freshFor {
        max(.zero, duration) - .nanoseconds(1)
      } else { nil }
  }
}

extension FreshnessPolicy {
  /// Returns the greatest age at which a value of the key is fresh; nil if it never becomes stale.
  @inlinable
  func greatestFreshAge(_ key: some Hashable) -> Duration? {
    if jitter == 0 { return greatestAge }
    return greatestAge.map { jittered($0, by: key.mixedHash) }
  }

  @usableFromInline
  func jittered(_ age: Duration, by hash: Int) -> Duration {
    let fraction = Double(UInt(bitPattern: hash) >> 11) / Double(1 << 53 as UInt64)
    return .nanoseconds(Double(age.nanoseconds) * (1 - jitter * fraction))
  }

  /// Whether a stale value of this age may still be used.
  @usableFromInline
  func isUsable(age: Duration) -> Bool {
    switch usableFor {
    case .forever: true
    case .after(let duration): age < duration
    }
  }
}

extension FreshnessPolicy {
  /// Whether a stale value may replace one that failed with `error`.
  @usableFromInline
  func standsIn(for error: any Error, by use: StaleUse) -> Bool {
    switch use {
    case .never: false
    case .onAnyError: true
    case .onNamedErrors, .after: staleOn(error)
    }
  }
}
