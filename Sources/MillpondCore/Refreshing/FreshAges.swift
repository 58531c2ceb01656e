public import MillpondSignals
public import Synchronization

/// The age up to which a value is fresh, by the policy and by the last ``expireAll()``.
@usableFromInline
final class FreshAges<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let policy: FreshnessPolicy
  @usableFromInline let scheduler: Scheduler

  /// The time of the last ``expireAll()``, in nanoseconds of the scheduler; negative if there was
  /// none.
  @usableFromInline let allExpiredAt = Atomic<Int>(-1)

  /// The greatest delay of a store's clock behind the scheduler.
  private let lag: Duration

  /// The keys that got a new value so soon after the last ``expireAll()`` that its age does not
  /// show that it is newer.
  private let renewed = Locked<Set<Key>>([])

  init(_ policy: FreshnessPolicy, _ clock: some Clock<Duration>) {
    self.policy = policy
    scheduler = Scheduler(clock)
    // A memory cache reads the continuous clock in steps.
    lag = clock is ContinuousClock ? .milliseconds(10) : .zero
  }

  /// Makes every value stored until now stale.
  func expireAll() {
    let now = scheduler.now().nanoseconds
    let former = renewed.withLock { renewed in
      allExpiredAt.store(now, ordering: .releasing)
      defer { renewed = [] }
      return renewed
    }
    _ = former  // released here, not under the lock
  }

  /// Records that the key got a new value now.
  func renew(_ key: Key) {
    let expiredAt = allExpiredAt.load(ordering: .acquiring)
    if expiredAt < 0 || scheduler.now() - .nanoseconds(expiredAt) > lag * 2 { return }
    renewed.withLock { _ = $0.insert(key) }
  }

  /// Returns the freshness that a stored value of the key needs now to answer a get.
  @inlinable
  func fresh(_ key: Key, _ requested: Freshness) -> Freshness {
    let expiredAt = allExpiredAt.load(ordering: .acquiring)
    guard let greatest = policy.greatestFreshAge(key) else {
      return expiredAt < 0 ? requested : within(nil, requested, expiredAt, key)
    }
    return within(greatest, requested, expiredAt, key)
  }

  @inlinable
  func within(
    _ greatest: Duration?, _ requested: Freshness, _ expiredAt: Int, _ key: Key
  ) -> Freshness {
    var limit = greatest
    if case .atMost(let age) = requested { limit = min(age, limit ?? age) }
    if expiredAt >= 0, let since = sinceAllExpired(expiredAt, key) {
      limit = min(since, limit ?? since)
    }
    return limit.map { .atMost($0) } ?? requested
  }

  /// The age of the oldest value that is certainly newer than the last ``expireAll()``; nil if the
  /// key's value is newer.
  @usableFromInline
  func sinceAllExpired(_ expiredAt: Int, _ key: Key) -> Duration? {
    if renewed.withLock({ $0.contains(key) }) { return nil }
    let since = scheduler.now() - .nanoseconds(expiredAt)
    // A step back of the clock expires nothing more.
    return since < .zero ? .zero : since - lag - .nanoseconds(1)
  }
}

extension Freshness {
  /// Whether every answer to a get with this freshness also satisfies one with `other`.
  @usableFromInline
  func isAsStrict(as other: Freshness) -> Bool {
    switch (self, other) {
    case (.reload, _), (_, .any): true
    case (.atMost(let age), .atMost(let otherAge)): age <= otherAge
    default: false
    }
  }
}
