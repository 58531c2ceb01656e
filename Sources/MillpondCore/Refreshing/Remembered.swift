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
public final class Remembered<Store: Cache, Base: Source>: Cache
where Store.Key == Base.Key, Store.Value == Base.Value {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let inside: RefreshingCache<Store, Base>

  /// The stored values of watched keys.
  let resources: InFlightReuse<StoredResources<Key, Value>>

  /// Creates the cache.
  ///
  /// - Parameters:
  ///   - refreshing: The store, the source and the fetches.
  ///   - peek: Returns a value in memory, without counting this as a use; nil if it is elsewhere.
  ///   - stored: Looks up a stored value that is not in memory.
  init(
    _ refreshing: RefreshingCache<Store, Base>,
    peek: @escaping @Sendable (Key) -> Stamped<Value>?,
    stored: @escaping @Sendable (Key, Lookup) -> Signal<Stamped<Value>>
  ) {
    inside = refreshing
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
    case .any, .atMost: inside.answer(key, lookup) { $0.value.value }
    case .reload, .cachedOnly: getStamped(key, lookup).unstamped()
    }
  }

  /// Returns the stored value if it is fresh, or else a fetched one, with its age.
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    switch lookup.freshness {
    case .any, .atMost: inside.answerFirst(key, lookup)
    case .reload: inside.reloaded(key, lookup)
    case .cachedOnly: inside.kept(key, lookup)
    }
  }

  /// Returns the immediate value of the store if it is fresh.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    inside.now(key, lookup)
  }

  /// Fetches a new value now, also without a caller: a soft refresh.
  ///
  /// The stored value stays usable during the fetch and after its failure. The fetch never joins
  /// one that has begun before. It is cancelled at the policy's deadline, by a write of the key, or
  /// when this cache is released, unless a caller still waits for it. Beyond the policy's number of
  /// refreshes it continues only while a caller waits.
  ///
  /// - Returns: The new value or the failure, which may be ignored. If the policy lets a stale
  ///   value replace this failure, the stored value, if it is usable.
  @discardableResult
  public func refresh(_ key: Key) -> Signal<Value> {
    inside.refresh(key)
  }

  /// Makes the stored value of a key stale, without asking the source: the next get fetches.
  ///
  ///     users.markStale(7)             // TanStack Query's invalidateQueries
  ///     users.get(7)                   // fetches; the old value stands in by the policy
  ///
  /// The answer of a fetch that has begun counts as stale too. A failure that the policy remembers
  /// still answers until its time is over. Nothing is sent to subscribers. The mark is lost with
  /// the process: a stored value that outlives it is stale by its age only.
  ///
  /// - Complexity: O(1). The marks of 4,096 keys are noted; with more, every value becomes stale.
  public func markStale(_ key: Key) {
    inside.ages.mark(key)
  }

  /// Makes every stored value stale, without asking the source: the next get of each key fetches.
  ///
  /// Otherwise the same as ``markStale(_:)``. Values that are set, or whose fetch begins
  /// afterwards, are fresh as usual.
  ///
  /// - Complexity: O(1).
  public func markAllStale() {
    inside.ages.markAll()
  }

  // MARK: Writes

  /// Writes to the source, then to the store, and detaches older fetches.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    inside.apply(change)
  }

  /// The store over the source, and the fetches.
  public func topology(for key: Key?) -> Topology {
    let flights = inside.flights
    return Topology(
      .layers, "remembered in",
      parts: [inside.store.topology(for: key), inside.base.topology(for: key)],
      flight: key.flatMap { flights.record(of: $0) }, flights: { flights.census() },
      markAllStale: { [ages = inside.ages] in ages.markAll() })
  }
}
