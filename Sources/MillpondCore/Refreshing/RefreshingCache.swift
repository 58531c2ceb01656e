public import MillpondSignals
import Synchronization

/// A store, the source behind it, and the flights between them.
///
/// One flight serves all gets of a key: it finds the stored value, then fetches a new one if
/// needed. The ``RefreshingGet`` of each get decides which findings it receives, and when.
@usableFromInline
final class RefreshingCache<Store: Cache, Base: Source>: Sendable
where Store.Key == Base.Key, Store.Value == Base.Value {
  @usableFromInline typealias Key = Base.Key
  @usableFromInline typealias Value = Base.Value
  @usableFromInline typealias Finding = Stamped<CachedFetch<Value>>

  @usableFromInline let store: Store
  let base: Base

  /// The store over the source, for changes.
  private let layers: Layered<Store, Base>

  @usableFromInline let ages: FreshAges<Key>
  @usableFromInline let flights: Flights<Key, Finding>
  let refreshes: BackgroundRefreshes<Key>
  let failures: RecentFailures<Key>

  let watchers = KeyWatchers<Key, Value>()

  init(
    _ store: Store, _ base: Base, _ policy: FreshnessPolicy, _ clock: some Clock<Duration>
  ) {
    self.store = store
    self.base = base
    layers = store.layered(over: base)
    ages = FreshAges(policy, clock)
    flights = Flights(FlightClock(ages.scheduler))
    refreshes = BackgroundRefreshes(
      ages.scheduler, timeLimit: policy.refreshDeadline, max: policy.maxRefreshes)
    failures = RecentFailures(clock, policy.failureLife)
  }

  @inlinable var policy: FreshnessPolicy { ages.policy }
  @inlinable var scheduler: Scheduler { ages.scheduler }

  // MARK: Freshness

  /// Returns the immediate value of the store if it is fresh.
  @inlinable
  func now(_ key: Key, _ lookup: Lookup) -> Value? {
    switch lookup.freshness {
    case .reload: return nil
    case .cachedOnly: return policy.usableFor == .forever ? store.now(key, lookup) : nil
    case .any, .atMost: break
    }
    let fresh = ages.fresh(key, lookup.freshness)
    guard policy.refreshAhead > .zero, case .atMost(let greatest) = fresh else {
      return store.now(key, lookup.with(fresh))
    }
    // A miss of the first lookup is not counted: the second one belongs to the same get.
    let early = lookup.with(.atMost(max(.zero, greatest) - policy.refreshAhead))
      .counting(lookup.counting == .everything ? .hits : lookup.counting)
    if let value = store.now(key, early) { return value }
    guard let value = store.now(key, lookup.with(fresh)) else { return nil }
    refreshAhead(key)
    return value
  }

  /// Fetches the value in the background, unless a fetch is under way.
  @usableFromInline
  func refreshAhead(_ key: Key) {
    refreshes.keepRunning(
      key, isReload: false,
      flights.join(key, Lookup(priority: .low)) { shared in
        // A get that joins has not looked at the stored value, which may be stale by then.
        self.fetchAfterWrites(key, shared, asked: .any, keeps: true)
          .recover { self.keptAsStale(key).concat(.fail($0)) }
      })
  }

  // MARK: Writing

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    if case .removeAll = change { refreshes.releaseAll() }
    return follow(change, layers.apply(change))
  }

  /// Removes everything from the store, and leaves the source as it is.
  func forgetAll() -> Signal<Void> {
    refreshes.releaseAll()
    let change = Change<Key, Value>.removeAll(.next())
    return follow(change, store.apply(change))
  }

  /// Draws the consequences of a change of the store.
  private func follow(_ change: Change<Key, Value>, _ outcome: Signal<Void>) -> Signal<Void> {
    switch change {
    case .set(let key, _, let revision):
      ages.renew(key, asked: revision)
      letGo(of: key)
    case .remove(let key, _): letGo(of: key)
    case .removeAll:
      failures.forgetAll()
      flights.detachAll()
    case .removeMatching(let predicate, _):
      let keys = Set(failures.keys + flights.keys + refreshes.keys)
      for key in keys where predicate.isSatisfied(by: key) { letGo(of: key) }
    case .fill(let key, let stamped, let token):
      if !ages.hasMarks.load(ordering: .acquiring) { break }
      outcome.whenAdmitted { [ages] in
        ages.renew(key, asked: token.revision, age: stamped.age)
      }
    }
    watchers.send(change, outcome)
    return outcome
  }

  private func letGo(of key: Key) {
    failures.forget(key)
    flights.detach(key)
    refreshes.release(key)
  }
}

extension Signal<Void> {
  /// Runs `act` when the store admits a fill; at once, if it has already.
  func whenAdmitted(_ act: @escaping @Sendable () -> Void) {
    if isDone { act() } else { subscribe(onNext: act) }
  }
}

extension RefreshingCache {
  /// Looks up the stored value, and fetches a new one if that is not fresh.
  @usableFromInline
  func look(_ requested: Freshness, _ key: Key, _ lookup: Lookup) -> Signal<Finding> {
    .withCaller { [self] caller in
      // Every later write wins over a stored value that the source confirms.
      let began = Revision.next()
      return store.layerAnswer(key, lookup.with(.any)).first()
        .flatMap { [self] (look: Result<Answer<Value>?, any Error>) -> Signal<Finding> in
          let fresh = ages.fresh(key, requested)
          let lookup = lookup.with(fresh)
          switch look {
          case .success(.value(let stamped)):
            watchers.send(.kept, of: key)
            if fresh.admits(age: stamped.age) {
              return .just(finding(stamped, isFresh: true, requested: nil))
            }
            let fetched = fetchAfterWrites(
              key, lookup, asked: requested, about: StaleEntry(stamped, since: began)
            ).inContext(of: caller)
            if !policy.isUsable(age: stamped.age) { return fetched }
            return fetched.startWith(finding(stamped, isFresh: false, requested: nil))
          case .success(let reason):
            let stale = StaleEntry(reason?.confirmable, since: began)
            return fetch(key, lookup, asked: requested, about: stale).inContext(of: caller)
          case .failure(let failure):
            return fetch(key, lookup, asked: requested, after: failure).inContext(of: caller)
          }
        }
    }
  }

  /// Joins the next reload that has not begun, or starts one.
  func reload(_ key: Key, _ lookup: Lookup) -> Signal<Finding> {
    .withCaller { [self] caller in
      if flights.isCircular(key, caller) {
        return .fail(CacheError.circular(key: String(withoutSecrets: key)))
      }
      return flights.join(key, lookup) { [self] shared in
        flights.reload(key, shared) { [self] keeps in
          fetchAfterWrites(key, shared, asked: .reload, keeps: keeps)
        }
      }
    }
  }

  /// Asks the source about the stored value, of whatever age, after all earlier writes of the key
  /// have arrived in all layers.
  ///
  /// A layer that a write reaches only after the token was taken, because the value is encoded
  /// first, refuses the fetched value to be safe; another layer that the write has reached already
  /// would store it. A lookup waits for such writes, unless a layer above answers it; to a reload no
  /// layer has an answer, but the one that has the value says so.
  ///
  /// - Parameter stale: The stored value, if it is known already.
  func fetchAfterWrites(
    _ key: Key, _ lookup: Lookup, asked requested: Freshness, keeps: Bool = true,
    about stale: StaleEntry<Value>? = nil
  ) -> Signal<Finding> {
    .withCaller { [self] caller in
      // Every later write wins over a stored value that the source confirms.
      let began = Revision.next()
      return store.answers(key, Lookup(freshness: .reload)).first()
        .flatMap { [self] (look: Result<Answer<Value>?, any Error>) -> Signal<Finding> in
          let found = StaleEntry((try? look.get())?.confirmable, since: began)
          return fetch(key, lookup, asked: requested, keeps: keeps, about: stale ?? found)
            .inContext(of: caller)
        }
    }
  }

  /// Asks the source, and stores its answer.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the fetch.
  ///   - requested: The freshness that the get asked for, before the policy and marks tightened it.
  ///   - keeps: Whether values and failures are remembered.
  ///   - failure: The failure of the store, if it failed.
  ///   - stale: The value of the store, which the source may confirm.
  private func fetch(
    _ key: Key, _ lookup: Lookup, asked requested: Freshness, keeps: Bool = true,
    after failure: (any Error)? = nil, about stale: StaleEntry<Value>? = nil
  ) -> Signal<Finding> {
    .withCaller { [self] caller in
      if requested.admitsStored, let error = failures.answer(key) {
        return error.isMiss ? .empty : .fail(error)
      }
      // The token is taken before the source is asked, so that every later write wins.
      return watchers.counting(key) { [self] lifetime in
        let token = FillToken(for: lookup, during: lifetime)
        let terms = lookup.asking(about: stale?.value.validator)
        return base.layerAnswer(key, layers.below.lookup(terms, token)).inContext(of: caller)
          .compactMap { [self] answer -> Stamped<Value>? in
            switch answer {
            case .value(let stamped):
              if keeps { keep(stamped, key, token, lookup) }
              return stamped
            case .notModified(let timeToLive):
              guard let stale else { return nil }
              let renewed = stale.value.confirmed(timeToLive)
              if keeps { keep(renewed, key, token.ofRenewal(since: stale.lookedUpAt), lookup) }
              return renewed
            case .stale, .tooOld, .undecodable: return nil
            }
          }
          .onEnd { [self] ending in
            if keeps, case .failed(let error) = ending { failures.keep(error, key, token) }
          }
          .map { [self] in
            finding($0, isFresh: true, requested: lookup.freshness, asked: token.revision)
          }
          .ifEmpty { [self] in
            if let failure { return .fail(failure) }
            if keeps { failures.keep(CacheError.miss, key, token) }
            return .empty
          }
      }
    }
  }

  /// Stores a fetched value, and shows it to watchers of the key, also if there is no room for it.
  private func keep(_ stamped: Stamped<Value>, _ key: Key, _ token: FillToken, _ lookup: Lookup) {
    let outcome = store.apply(.fill(key, stamped, layers.below.token(token)))
    if lookup.hasListeners { store.reportFailure(ofFill: outcome, key, lookup) }
    outcome.whenAdmitted { [self] in ages.renew(key, asked: token.revision) }
    watchers.sendFetched(stamped, of: key, token) { failures.forget(key, token) }
    if !outcome.isDone { watchers.sendSettled(key, after: outcome) }
  }

  func finding(
    _ stamped: Stamped<Value>, isFresh: Bool, requested: Freshness?, asked: Revision = .last
  ) -> Finding {
    let now = scheduler.now()
    return stamped.map {
      CachedFetch($0, isFresh: isFresh, requested: requested, asked: asked, at: now)
    }
  }
}

/// A stored value that is too old for a get, and may be confirmed by the source.
struct StaleEntry<Value: Sendable>: Sendable {
  let value: Stamped<Value>

  /// A moment before it was looked up.
  let lookedUpAt: Revision

  /// Creates it; nil without a value, or with one of which the source can't be asked.
  init?(_ value: Stamped<Value>?, since lookedUpAt: Revision) {
    guard let value, value.isConfirmable else { return nil }
    self.value = value
    self.lookedUpAt = lookedUpAt
  }
}
