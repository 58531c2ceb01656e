public import MillpondSignals
public import Synchronization

/// How old a value may be to be fresh, at any moment.
@usableFromInline
final class FreshAges: Sendable {
  @usableFromInline let policy: FreshnessPolicy
  @usableFromInline let timeline: Timeline

  /// When all that was kept ceased to be fresh, in nanoseconds of the timeline; negative if never.
  @usableFromInline let allExpiredAt = Atomic<Int>(-1)

  init(_ policy: FreshnessPolicy, _ timeline: Timeline) {
    self.policy = policy
    self.timeline = timeline
  }

  /// Lets nothing that is kept now be fresh any more.
  func expireAll() {
    allExpiredAt.store(timeline.now().nanoseconds, ordering: .relaxed)
  }

  /// Which of the values that are kept are fresh enough for an ask.
  @inlinable
  func fresh(_ key: some Hashable, _ asked: Freshness) -> Freshness {
    let expiredAt = allExpiredAt.load(ordering: .relaxed)
    guard let greatest = policy.greatestFreshAge(key) else {
      return expiredAt < 0 ? asked : within(nil, asked, expiredAt)
    }
    return within(greatest, asked, expiredAt)
  }

  @inlinable
  func within(_ greatest: Duration?, _ asked: Freshness, _ expiredAt: Int) -> Freshness {
    var limit = greatest
    if case .atMost(let age) = asked { limit = min(age, limit ?? age) }
    if expiredAt >= 0 {
      let since = sinceAllExpired(expiredAt)
      limit = min(since, limit ?? since)
    }
    return limit.map { .atMost($0) } ?? asked
  }

  @usableFromInline
  func sinceAllExpired(_ expiredAt: Int) -> Duration {
    // A store may tell ages by a clock that goes in steps.
    timeline.now() - .nanoseconds(expiredAt) - .milliseconds(10)
  }
}
