public import MillpondSignals

extension Source {
  /// Stores this source's answers in `store`, and treats them as fresh, stale or unusable by
  /// `policy`.
  ///
  ///     let users = people.remembered(
  ///       in: memory.layered(over: disk),
  ///       FreshnessPolicy(freshFor: .after(.seconds(1_800)), stale: .atOnce))
  ///
  ///     users.get(7)                                      // by the policy
  ///     users.get(7, freshness: .atMost(.seconds(60)))    // fetches if the stored value is older
  ///     users.get(7, stale: .after(.milliseconds(300)))   // the stored value if a fetch takes longer
  ///     users.refresh(7)                                  // fetches, also without a caller
  ///
  /// A fresh value is the answer, and this source is not asked. Otherwise one fetch serves all
  /// callers of the key, whatever ages they name, and its answer is stored; only a get for which
  /// that answer is too old fetches again. A stale value may be sent meanwhile, or after a failure,
  /// as the policy or the get allows, while it is usable. It keeps its age, and the next get tries
  /// again. A value that is not fresh is not fetched anew if it has a validator: this source is
  /// asked whether it is still current (``Lookup/known``), which makes it fresh again. A failure
  /// never removes a stored value. A write wins over all fetches that began before it.
  ///
  /// A reload always asks this source; during another reload, after that one. Gets that arrive in
  /// between join the later reload. A fetch after which a stale value may be sent continues without
  /// a caller: until the policy's deadline, until a write of the key, or until the result is
  /// released.
  ///
  /// If the store or the source is a member of a scope (``Cache/scoped(to:)``), so is the result: the
  /// end of the scope removes what is stored, and fails gets, refreshes and observers. A source
  /// that is no member itself is left as it is.
  ///
  /// - Parameters:
  ///   - store: The cache for the values. It should have no time to live of its own, or a longer
  ///     one than values are usable, and serve no other source. A value that brings a time to live of
  ///     its own is stored for that long, fresh or stale. A get that joins a running fetch
  ///     may receive a value whose time in the store has ended since the fetch began; the policy's
  ///     ages apply to it as to any other.
  ///   - policy: The ages up to which values are fresh and usable, and the use of stale ones.
  ///   - clock: The clock for fetches and waiting times; ages are those that the store reports.
  /// - Complexity: A fresh value costs one get of the store.
  public func remembered<Store: Cache<Key, Value>>(
    in store: Store, _ policy: FreshnessPolicy, clock: some Clock<Duration> = ContinuousClock()
  ) -> Remembered<Store, Self> {
    Remembered(RefreshingCache(store, self, policy, clock))
  }
}

/// A source whose answers are stored and stay fresh for a while.
///
/// Its release cancels the fetches that continue without a caller.
public final class Remembered<Store: Cache, Base: Source>: ObservableCache
where Store.Key == Base.Key, Store.Value == Base.Value {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let inside: RefreshingCache<Store, Base>

  /// The stored values of watched keys.
  let resources: InFlightReuse<StoredResources<Key, Value>>

  /// The scopes to which the values belong; nil if there are none.
  @usableFromInline let membership: ScopeMembership?

  /// Creates the cache.
  ///
  /// - Parameters:
  ///   - refreshing: The store, the source and the fetches.
  ///   - scope: A scope of which the cache is a member by itself, with the handle.
  ///   - peek: Returns a value in memory, without counting this as a use; nil if it is elsewhere.
  ///   - stored: Looks up a stored value that is not in memory.
  init(
    _ refreshing: RefreshingCache<Store, Base>, in scope: (CacheScope, Disposable)? = nil,
    peek: @escaping @Sendable (Key) -> Stamped<Value>?,
    stored: @escaping @Sendable (Key, Lookup) -> Signal<Stamped<Value>>
  ) {
    inside = refreshing
    membership = refreshing.membership(beside: scope)
    resources = StoredResources(
      peek: peek, stored: stored, watchers: refreshing.watchers, policy: refreshing.policy,
      scheduler: refreshing.scheduler
    ).reusingInFlight()
  }

  convenience init(_ refreshing: RefreshingCache<Store, Base>) {
    self.init(refreshing, peek: { _ in nil }, stored: refreshing.store.getStamped)
  }

  deinit {
    inside.refreshes.releaseAll()
  }

  // MARK: Gets

  /// Returns the stored value if it is fresh, or else a fetched one.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    switch lookup.freshness {
    case .any, .atMost: untilEnd(inside.answer(key, lookup) { $0.value.value }, key)
    case .reload, .cachedOnly: answers(key, lookup).values()
    }
  }

  @inlinable
  func untilEnd<Element>(_ answer: Signal<Element>, _ key: Key) -> Signal<Element> {
    membership.map { $0.untilEnd(answer, key) } ?? answer
  }

  /// Returns the stored value if it is fresh, or else a fetched one, with its age.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    let answer =
      switch lookup.freshness {
      case .any, .atMost: inside.answerFirst(key, lookup)
      case .reload: inside.reloaded(key, lookup)
      case .cachedOnly: inside.kept(key, lookup)
      }
    return untilEnd(answer, key)
  }

  /// Returns the immediate value of the store if it is fresh.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    membership?.noteViewer()
    return inside.now(key, lookup)
  }

  /// Fetches a new value now, also without a caller (a soft refresh: the old value stays until then; a hard
  /// one removes it first).
  @discardableResult
  public func refresh(_ key: Key) -> Signal<Value> {
    let endCounts = membership?.endCounts
    let values = inside.refresh(key)
    guard let membership else { return values }
    // An end since then has found no fetch to cancel.
    if membership.endCounts != endCounts { inside.refreshes.release(key) }
    return membership.untilEnd(values, key, since: endCounts)
  }

  /// Makes the stored value of a key stale.
  public func markStale(_ key: Key) {
    inside.ages.mark(key)
  }

  /// Makes every stored value stale.
  public func markAllStale() {
    inside.ages.markAll()
  }

  // MARK: Writes

  /// Writes to the source, then to the store, and detaches older fetches; a removal makes the next
  /// get fetch anew (a hard refresh).
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = inside.apply(change)
    membership?.wait(for: outcome)
    return outcome
  }

  /// The store over the source, and the fetches.
  public func topology(for key: Key?) -> Topology {
    let flights = inside.flights
    return Topology(
      .layers, "remembered in",
      parts: [inside.store.topology(for: key), inside.base.topology(for: key)],
      flight: key.flatMap { flights.record(of: $0) }, flights: { flights.records() },
      markAllStale: { [ages = inside.ages] in ages.markAll() })
  }
}

extension RefreshingCache {
  /// Joins the scopes of the store and of the source.
  ///
  /// - Parameter scope: A scope in which there is a membership already, with its handle.
  /// - Returns: The memberships in all of them; nil if there is no scope.
  fileprivate func membership(beside scope: (CacheScope, Disposable)?) -> ScopeMembership? {
    let ofStore = store.topology(for: nil).allScopes
    let ofBase = base.topology(for: nil).allScopes.filter { scope in
      !ofStore.contains { $0 === scope }
    }
    let others = (ofStore + ofBase).filter { $0 !== scope?.0 }
    if scope == nil, others.isEmpty { return nil }
    var handles = others.map { $0.add { self.forgetAll() } }
    // Files stay when this is released. The closure above would keep the members alive.
    handles += ofBase.map { [store] scope in
      scope.add(isPersistent: true) { store.removeAll() }
    }
    return ScopeMembership(
      [scope?.0].compactMap { $0 } + others, [scope?.1].compactMap { $0 } + handles)
  }
}
