public import MillpondSignals
public import Synchronization

/// The age up to which a value is fresh, by the policy and by the marks of stale values.
@usableFromInline
final class FreshAges<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let policy: FreshnessPolicy
  @usableFromInline let scheduler: Scheduler

  /// Whether there are marks, also such that hold only for fetches under way.
  let hasMarks = AtomicValue<Bool>(false)

  /// The rule of the marks, which stored values have to meet beside the policy.
  @usableFromInline let rule = AtomicValue(MarkRule.none)
  private let marks: Locked<StaleMarks<Key>>
  private let lag: Duration

  /// The clock of a memory cache: on Linux it stands still while the system sleeps, and a mark by
  /// another clock would then count as older than values from before it.
  private let time: CoarseTime

  init(_ policy: FreshnessPolicy, _ clock: some Clock<Duration>) {
    self.policy = policy
    scheduler = Scheduler(clock)
    time = CoarseTime(clock)
    // The continuous clock is read in steps.
    lag = clock is ContinuousClock ? .milliseconds(10) : .zero
    marks = Locked(StaleMarks(lag: lag))
  }

  // MARK: Marks

  private var markTime: Duration { .nanoseconds(time.now()) }

  /// Makes every value stored until now stale, and those of fetches that have begun.
  func markAll() {
    let now = markTime
    change { $0.markAll(.next(), at: now) }
  }

  /// Makes the value stored until now for a key stale, and those of fetches that have begun.
  func mark(_ key: Key) {
    let now = markTime
    change { $0.mark(key, .next(), at: now) }
  }

  /// Records that the key got a new value now.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - asked: The revision of the write, or of the beginning of the fetch.
  ///   - age: The age of the value.
  func renew(_ key: Key, asked: Revision, age: Duration? = nil) {
    if !hasMarks.load(ordering: .acquiring) { return }
    let now = markTime
    change { $0.renew(key, asked: min(asked, .present), age: age, at: now) }
  }

  private func change(_ change: (inout StaleMarks<Key>) -> StaleMarks<Key>.Gone) {
    let gone = marks.withLock { marks in
      let gone = change(&marks)
      hasMarks.store(!marks.isEmpty, ordering: .releasing)
      rule.store(marks.rule, ordering: .releasing)
      return gone
    }
    withExtendedLifetime(gone) {}  // released here, not under the lock
  }

  /// Whether a value that was fetched since `asked` is from before a mark.
  @usableFromInline
  func isMarked(_ key: Key, asked: Revision) -> Bool {
    hasMarks.load(ordering: .acquiring)
      && marks.withLock { $0.hasMark(key, after: asked) }
  }

  // MARK: Ages

  /// Returns the freshness that a stored value of the key needs now to answer a get.
  @inlinable
  func fresh(_ key: Key, _ requested: Freshness) -> Freshness {
    let rule = rule.load(ordering: .acquiring)
    guard let greatest = policy.greatestFreshAge(key) else {
      return rule == .none ? requested : within(nil, requested, rule, key)
    }
    return within(greatest, requested, rule, key)
  }

  @inlinable
  func within(
    _ greatest: Duration?, _ requested: Freshness, _ rule: MarkRule, _ key: Key
  ) -> Freshness {
    var limit = greatest
    if case .atMost(let age) = requested { limit = min(age, limit ?? age) }
    if rule != .none, let unmarked = greatestUnmarkedAge(key, by: rule) {
      limit = min(unmarked, limit ?? unmarked)
    }
    return limit.map { .atMost($0) } ?? requested
  }

  /// Returns the greatest age of a value that is certainly newer than the key's last mark; negative
  /// if no value is, nil if there is no such mark.
  @usableFromInline
  func greatestUnmarkedAge(_ key: Key, by rule: MarkRule) -> Duration? {
    let now = markTime
    if rule != .byKey {
      let since = Duration.nanoseconds(rule.rawValue)
      let unmarked = StaleMarks<Key>.greatestUnmarkedAge(since: since, at: now, lag: lag)
      guard let greatest = policy.greatestAge, unmarked >= greatest else { return unmarked }
    }
    var unmarked: Duration?
    change { marks in
      let gone = marks.outlive(policy.greatestAge, at: now)
      unmarked = marks.greatestUnmarkedAge(key, at: now)
      return gone
    }
    return unmarked
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
