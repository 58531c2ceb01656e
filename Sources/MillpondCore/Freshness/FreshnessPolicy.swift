public import MillpondSignals

/// How long a remembered value is as good as a new one, and what may be done with it afterwards.
///
///     let policy = FreshnessPolicy(
///       freshFor: .after(.seconds(1_800)), usableFor: .after(.seconds(86_400)), stale: .atOnce)
///
/// Ages count from when a value left its origin, in whatever layer it was kept since.
public struct FreshnessPolicy: Sendable {
  /// For how long a value is an answer without asking the origin.
  public let freshFor: TimeToLive

  /// For how long a value may stand in for a new one; what is older is as good as none.
  public let usableFor: TimeToLive

  /// When a value that is not fresh may be an answer, unless the asker says so himself.
  public let stale: StaleUse

  /// For which failures a value that is not fresh may stand in.
  public let staleOn: @Sendable (any Error) -> Bool

  /// What share of the time in which values are fresh may be taken off, differently for each key,
  /// from 0 to 1.
  public let jitter: Double

  /// How long before its end a fresh value that is asked for is fetched anew, behind the asker's back.
  public let refreshAhead: Duration

  /// How long a fetch goes on that nobody waits for.
  public let refreshDeadline: Duration

  /// How many fetches that nobody need wait for go on at a time.
  public let maxRefreshes: Int

  /// For how long a failure is the answer to those who ask again; zero or less for not at all.
  public let failureLife: @Sendable (any Error) -> Duration

  /// The greatest age at which a value is fresh, without jitter; nil if it always is.
  @usableFromInline let greatestAge: Duration?

  /// States a policy; by default what is remembered is fresh for ever.
  ///
  /// - Parameters:
  ///   - freshFor: For how long a value is an answer without asking the origin; of zero or less, the
  ///     origin is asked each time.
  ///   - usableFor: For how long a value may stand in for a new one, from its birth, too.
  ///   - stale: When it may, unless the asker says so himself. It is for those who ask for
  ///     ``Freshness/any``: who names an age, or reloads, gets a stale value only if he says so.
  ///   - staleOn: For which failures; by default where the origin can't be reached.
  ///   - jitter: What share of `freshFor` may be taken off, differently for each key, so that not all
  ///     that came together are fetched together; from 0 to 1.
  ///   - refreshAhead: How long before its end a fresh value that is asked for is fetched anew, behind
  ///     the asker's back.
  ///   - refreshDeadline: How long a fetch goes on that nobody waits for.
  ///   - maxRefreshes: How many of those go on at a time. What would be one more goes on as long as
  ///     somebody waits for it; ahead of time, nothing is fetched then.
  ///   - failureLife: For how long a failure is the answer to those who ask again, so that what does
  ///     not exist is not asked for over and over; zero or less for not at all. Failures of 1,000 keys
  ///     are remembered. A reload asks anyway. A failure that comes after the key was told something, or
  ///     after the outcome of a later reload or the answer to a later fetch, is not remembered.
  public init(
    freshFor: TimeToLive = .never, usableFor: TimeToLive = .never,
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
    self.refreshAhead = refreshAhead
    self.refreshDeadline = refreshDeadline
    self.maxRefreshes = maxRefreshes
    self.failureLife = failureLife
    greatestAge =
      if case .after(let duration) = freshFor { duration - .nanoseconds(1) } else { nil }
  }
}

extension FreshnessPolicy {
  /// The greatest age at which a value of the key is fresh; nil if it has none.
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

  /// Whether a value of this age may stand in for a new one.
  @usableFromInline
  func isUsable(age: Duration) -> Bool {
    switch usableFor {
    case .never: true
    case .after(let duration): age < duration
    }
  }
}

/// The rule of a get that receives a stale value when a new one takes too long.
@usableFromInline
struct StaleRule<Content: Sendable>: TimedRule {
  @usableFromInline typealias Value = Stamped<Recalled<Content>>

  /// The time for which the get waits for a new value.
  @usableFromInline let patience: Duration
  @usableFromInline let policy: FreshnessPolicy
  @usableFromInline let beginning: Duration

  /// A stale value that has not been sent, and may be.
  @usableFromInline var stale: Value?
  @usableFromInline var hasSentStale = false
  @usableFromInline var end: Event<Value>?
  @usableFromInline var deadline: Duration?

  /// The rule of a get that began at `beginning`.
  @inlinable
  init(_ patience: Duration, _ policy: FreshnessPolicy, _ beginning: Duration) {
    self.patience = patience
    self.policy = policy
    self.beginning = beginning
  }

  @inlinable
  mutating func received(_ event: Event<Value>, at now: Duration) -> Event<Value>? {
    switch event {
    case .next(let found) where found.value.isFresh:
      (stale, deadline) = (nil, nil)
      return event
    case .next(let found): return receivedStale(found, at: now)
    case .failed(let error): return failed(error, at: now)
    case .progress, .completed: return event
    }
  }

  @inlinable
  mutating func receivedStale(_ found: Value, at now: Duration) -> Event<Value>? {
    if hasSentStale { return nil }
    if now >= beginning + patience { return sent(found, at: now) }
    stale = found
    deadline = beginning + patience
    return nil
  }

  @inlinable
  mutating func failed(_ error: any Error, at now: Duration) -> Event<Value>? {
    guard policy.staleOn(error) else { return .failed(error) }
    if hasSentStale { return .completed }
    guard let stale, let event = sent(stale, at: now) else { return .failed(error) }
    end = .completed
    deadline = now
    return event
  }

  @inlinable
  mutating func wake(at now: Duration) -> Event<Value>? {
    deadline = nil
    if let end { return end }
    return stale.flatMap { sent($0, at: now) }
  }

  /// A stale value on its way to the get; nil if it is not usable any more.
  @inlinable
  mutating func sent(_ found: Value, at now: Duration) -> Event<Value>? {
    stale = nil
    guard policy.isUsable(age: found.deliveredAge(at: now)) else { return nil }
    hasSentStale = true
    return .next(found)
  }
}

extension FreshnessPolicy {
  /// Whether a value that is not fresh may stand in for one that failed with `error`.
  @usableFromInline
  func standsIn(for error: any Error, by use: StaleUse) -> Bool {
    switch use {
    case .never: false
    case .onAnyError: true
    case .onNamedErrors, .after: staleOn(error)
    }
  }
}
