public import MillpondSignals

/// What is kept, what is fetched, and what is known of both.
///
/// One flight finds for all who ask for a key: what is kept, then what is fetched, if need be. What of
/// that each of them gets, and when, is decided by a ``StaleRule`` of his own.
@usableFromInline
final class Recollection<Store: Cache, Base: Source>: Sendable
where Store.Key == Base.Key, Store.Value == Base.Value {
  @usableFromInline typealias Key = Base.Key
  @usableFromInline typealias Value = Base.Value
  @usableFromInline typealias Finding = Stamped<Recalled<Value>>

  @usableFromInline let store: Store
  let base: Base
  @usableFromInline let ages: FreshAges
  @usableFromInline let flights: Flights<FlightRoom<Key, Recalled<Value>>>
  let holds: Holds<Key>
  let failures: RecentFailures<Key>

  /// Is told what happens to keys, where somebody watches.
  private let tell: (@Sendable (Key, RememberedNews<Value>) -> Void)?

  init(
    _ store: Store, _ base: Base, _ policy: FreshnessPolicy, _ clock: some Clock<Duration>,
    tell: (@Sendable (Key, RememberedNews<Value>) -> Void)? = nil
  ) {
    let timeline = Timeline(clock)
    self.store = store
    self.base = base
    ages = FreshAges(policy, timeline)
    flights = Flights(in: FlightRoom(), timeline)
    holds = Holds(timeline, patience: policy.refreshDeadline, max: policy.maxRefreshes)
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
      flights.join(key, Lookup(priority: .low)) { self.fetch(key, $0, keeps: true, failure: nil) })
  }

  // MARK: Asking

  /// What is kept and usable, however old.
  func kept(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let policy = policy
    return store.getStamped(key, lookup).filter { policy.isUsable(age: $0.age) }
  }

  /// What is kept, if it is fresh, or else what a flight finds, as far as the asker wants it.
  @inlinable
  func answer<Answer>(
    _ key: Key, _ lookup: Lookup, _ content: @escaping @Sendable (Finding) -> Answer
  ) -> Signal<Answer> {
    let use = lookup.stale ?? (lookup.freshness == .any ? policy.stale : .never)
    return answer(by: use, find(key, lookup), content) { self.hold(key) }
  }

  /// The same, for those who have not tried yet what is there at once.
  func answerFirst(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let answer = answer(key, lookup) { self.delivered($0) }
    return .deferred { [self] in
      if lookup.isObservable || now(key, lookup.counting(.nothing)) == nil { return answer }
      return store.getStamped(key, lookup.with(fresh(key, lookup.freshness))).ifEmpty { answer }
    }
  }

  /// What a new fetch brings, or else, if the asker says so, what is kept.
  func reloaded(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let use = lookup.stale ?? .never
    if use == .never {
      return answer(by: use, reload(key, lookup), { self.delivered($0) }, onStale: {})
    }
    return .asked { [self] asker in
      let reload = reload(key, lookup).inContext(of: asker)
      let kept = kept(key, lookup.with(.any)).take(1).map { self.finding($0, isFresh: false) }
      return answer(
        by: use, kept.recover { _ in .empty }.concat(reload), { self.delivered($0) },
        onStale: { self.holds.hold(key, isReload: false, reload) })
    }
  }

  @inlinable
  func answer<Answer>(
    by use: StaleUse, _ found: Signal<Finding>,
    _ content: @escaping @Sendable (Finding) -> Answer, onStale: @escaping @Sendable () -> Void
  ) -> Signal<Answer> {
    guard case .after = use else {
      return found.answered(by: use, names: policy.staleOn, content)
    }
    return found.onNext { if !$0.value.isFresh { onStale() } }
      .answered(by: use, on: timeline, names: policy.staleOn).map(content)
  }

  /// As it is now: who joins a flight late gets what has grown older meanwhile.
  private func delivered(_ finding: Finding) -> Stamped<Value> {
    Stamped<Value>(
      finding.value.value, age: finding.age + (timeline.now() - finding.value.foundAt),
      validator: finding.validator)
  }

  /// Keeps the fetch going that follows a stale value, for whoever may leave.
  @usableFromInline
  func hold(_ key: Key) {
    holds.hold(key, isReload: false, find(key, Lookup(priority: .low)))
  }

  // MARK: Finding

  /// Joins the flight that finds the value, or starts it.
  @inlinable
  func find(_ key: Key, _ lookup: Lookup) -> Signal<Finding> {
    var lookup = lookup
    if case .atMost(let age) = lookup.freshness, let greatest = policy.greatestFreshAge(key),
      age >= greatest
    {
      lookup = lookup.with(.any)
    }
    return flights.join(key, lookup, over: store) { self.look($0.freshness, key, $0) }
  }

  /// What is kept, and, if that is not fresh, what is fetched.
  @usableFromInline
  func look(_ asked: Freshness, _ key: Key, _ lookup: Lookup) -> Signal<Finding> {
    let fresh = fresh(key, asked)
    return .asked { [self] asker in
      store.layerAnswer(key, lookup.with(.any)).take(1).map { Look<Value>.kept($0) }
        .ifNoValue { .just(.nothing($0)) }
        .flatMap { [self] (look: Look<Value>) -> Signal<Finding> in
          if case .kept(let stamped) = look { tell?(key, .kept(stamped)) }
          let fetched = { [self] (failure: (any Error)?) in
            fetch(key, lookup.with(fresh), keeps: true, failure: failure).inContext(of: asker)
          }
          switch look {
          case .kept(let stamped) where fresh.admits(age: stamped.age):
            return .just(finding(stamped, isFresh: true))
          case .kept(let stamped) where policy.isUsable(age: stamped.age):
            return fetched(nil).startWith(finding(stamped, isFresh: false))
          case .kept: return fetched(nil)
          case .nothing(let failure): return fetched(failure)
          }
        }
    }
  }

  /// Joins the reload that is to begin, or starts it.
  func reload(_ key: Key, _ lookup: Lookup) -> Signal<Finding> {
    .asked { [self] asker in
      if flights.isCircular(key, asker) { return .fail(CacheError.circular(key: "\(key)")) }
      return flights.join(key, lookup) { [self] shared in
        flights.reload(key, shared) { [self] keeps in
          fetch(key, shared, keeps: keeps, failure: nil)
        }
      }
    }
  }

  /// Asks the source, and keeps what it answers.
  ///
  /// - Parameter failure: That of the store, if it has failed.
  private func fetch(
    _ key: Key, _ lookup: Lookup, keeps: Bool, failure: (any Error)?
  ) -> Signal<Finding> {
    // The token is drawn before the source is asked: what is written from then on has to win.
    .asked(lookup) { [self] asker, token in
      if lookup.freshness != .reload, let error = failures.answer(key) { return .fail(error) }
      tell?(key, .begun)
      return base.layerAnswer(key, lookup).inContext(of: asker)
        .onNext { [self] stamped in
          if keeps { keep(stamped, key, token, lookup) }
        }
        .onEnd { [self] ending in
          if keeps, case .failed(let error) = ending { failures.keep(error, key, token) }
          tell?(key, .ended)
        }
        .map { [self] in finding($0, isFresh: true) }
        .ifEmpty { failure.map { .fail($0) } ?? .empty }
    }
  }

  private func keep(_ stamped: Stamped<Value>, _ key: Key, _ token: FillToken, _ lookup: Lookup) {
    let outcome = store.apply(.fill(key, stamped, token))
    if lookup.isHeard { store.reportFailure(ofFill: outcome, key, lookup) }
    failures.forget(key)
    tell?(key, .fetched(stamped))
  }

  private func finding(_ stamped: Stamped<Value>, isFresh: Bool) -> Finding {
    let now = timeline.now()
    return stamped.map { Recalled($0, isFresh: isFresh, at: now) }
  }

  // MARK: Telling

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = store.layered(over: base).apply(change)
    switch change {
    case .set(let key, _, _), .remove(let key, _):
      failures.forget(key)
      flights.detach(key)
      holds.release(key)
    case .removeAll:
      failures.forgetAll()
      flights.detachAll()
      holds.releaseAll()
    case .fill: break
    }
    if let tell { RememberedNews.tell(change, tell) }
    return outcome
  }
}

/// What the store says.
private enum Look<Value: Sendable>: Sendable {
  case kept(Stamped<Value>)
  case nothing((any Error)?)
}
