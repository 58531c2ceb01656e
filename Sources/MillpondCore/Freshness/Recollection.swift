public import MillpondSignals

/// What is kept, what is fetched, and what is known of both.
///
/// One flight finds for all gets of a key: what is kept, then what is fetched, if need be. What of that a
/// get receives, and when, is decided by its own ``JoinedGet``.
@usableFromInline
final class Recollection<Store: Cache, Base: Source>: Sendable
where Store.Key == Base.Key, Store.Value == Base.Value {
  @usableFromInline typealias Key = Base.Key
  @usableFromInline typealias Value = Base.Value
  @usableFromInline typealias Finding = Stamped<Recalled<Value>>

  @usableFromInline let store: Store
  let base: Base
  @usableFromInline let ages: FreshAges<Key>
  @usableFromInline let flights: Flights<Key, Recalled<Value>>
  let holds: Holds<Key>
  let failures: RecentFailures<Key>

  /// Is told what happens to keys, where they are watched.
  let tell: (@Sendable (Key, RememberedNews<Value>) -> Void)?

  init(
    _ store: Store, _ base: Base, _ policy: FreshnessPolicy, _ clock: some Clock<Duration>,
    tell: (@Sendable (Key, RememberedNews<Value>) -> Void)? = nil
  ) {
    self.store = store
    self.base = base
    ages = FreshAges(policy, clock)
    flights = Flights(FlightClock(ages.timeline))
    holds = Holds(ages.timeline, patience: policy.refreshDeadline, max: policy.maxRefreshes)
    failures = RecentFailures(clock, policy.failureLife)
    self.tell = tell
  }

  @inlinable var policy: FreshnessPolicy { ages.policy }
  @inlinable var timeline: Timeline { ages.timeline }

  // MARK: Fresh ones

  /// Which of the values that are kept are fresh enough for an ask.
  @inlinable
  func fresh(_ key: Key, _ asked: Freshness) -> Freshness {
    ages.fresh(key, asked)
  }

  /// What the store has at once, if it is fresh.
  @inlinable
  func now(_ key: Key, _ lookup: Lookup) -> Value? {
    switch lookup.freshness {
    case .reload: return nil
    case .cachedOnly: return policy.usableFor == .never ? store.now(key, lookup) : nil
    case .any, .atMost: break
    }
    let fresh = fresh(key, lookup.freshness)
    guard policy.refreshAhead > .zero, case .atMost(let greatest) = fresh else {
      return store.now(key, lookup.with(fresh))
    }
    // A miss of the first look is not counted: the second one is that of the same get.
    let early = lookup.with(.atMost(greatest - policy.refreshAhead))
      .counting(lookup.counting == .everything ? .hits : lookup.counting)
    if let value = store.now(key, early) { return value }
    guard let value = store.now(key, lookup.with(fresh)) else { return nil }
    refreshAhead(key)
    return value
  }

  /// Fetches the value behind the asker's back, unless it is being fetched.
  @usableFromInline
  func refreshAhead(_ key: Key) {
    holds.hold(
      key, isReload: false,
      flights.join(key, Lookup(priority: .low)) { shared in
        // A get that joins has not looked at what is kept, which may be stale by then.
        self.fetch(key, shared, keeps: true, failure: nil)
          .recover { self.keptAsStale(key).concat(.fail($0)) }
      })
  }

  // MARK: Writing

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = store.layered(over: base).apply(change)
    switch change {
    case .set(let key, _, _):
      ages.renew(key)
      letGo(of: key)
    case .remove(let key, _): letGo(of: key)
    case .removeAll:
      failures.forgetAll()
      flights.detachAll()
      holds.releaseAll()
    case .fill: break
    }
    guard let tell, let (key, news) = RememberedNews.of(change) else { return outcome }
    if change.isFill { outcome.whenAdmitted { tell(key, news) } } else { tell(key, news) }
    return outcome
  }

  private func letGo(of key: Key) {
    failures.forget(key)
    flights.detach(key)
    holds.release(key)
  }
}

extension Signal<Void> {
  /// Runs `act` when a store says that it has admitted a fill: at once, if it has.
  func whenAdmitted(_ act: @escaping @Sendable () -> Void) {
    if isDone { act() } else { subscribe(onNext: act) }
  }
}
