public import MillpondSignals

extension Source {
  /// Keeps what this answers in `store`, and says for how long that is as good as a new answer, and what
  /// may be done with it afterwards.
  ///
  ///     let users = people.remembered(
  ///       in: memory.layered(over: disk),
  ///       FreshnessPolicy(freshFor: .after(.seconds(1_800)), stale: .atOnce))
  ///
  ///     users.get(7)                                      // by the policy
  ///     users.get(7, freshness: .atMost(.seconds(60)))    // asks, if what is kept is older
  ///     users.get(7, stale: .after(.milliseconds(300)))   // what is kept, if a new one takes longer
  ///     users.refresh(7)                                  // asks, whoever waits
  ///
  /// A fresh value is the answer, without asking this. Else this is asked, once for all who wait, whatever
  /// ages they name, and what it answers is kept; only a get for which that is too old when it comes asks
  /// again. Meanwhile, or if it fails, a stale value stands in as the policy or the get allows, as long as
  /// it is usable. A stale value keeps its age, and the next ask tries again; a failure destroys nothing
  /// that is kept. What is told wins over all that was asked before.
  ///
  /// A reload asks this anew, in any case: while another reload is under way, after it. Who asks when
  /// that has begun joins it. Where a stale value may be sent before a new one comes, the fetch goes on
  /// also if nobody waits for it: until the policy's deadline, until the key is told something else, or
  /// until this is released.
  ///
  /// - Parameters:
  ///   - store: Where values are kept. It should have no time-to-live of its own, or a longer one than
  ///     values are usable, and serve no other source. A get that joins a running fetch may receive what
  ///     the store had when the fetch began, also if its time in the store has ended since; the policy's
  ///     ages hold for that get as for any other.
  ///   - policy: How long a value is fresh, and what is done then.
  ///   - clock: By which fetches and patience are timed; the ages are those that the store tells.
  /// - Complexity: A fresh value costs what it costs to ask the store.
  public func remembered<Store: Cache<Key, Value>>(
    in store: Store, _ policy: FreshnessPolicy, clock: some Clock<Duration> = ContinuousClock()
  ) -> Remembered<Store, Self> {
    Remembered(Recollection(store, self, policy, clock))
  }
}

/// A source of which the answers are kept, and as good as new for a while.
public struct Remembered<Store: Cache, Base: Source>: Cache
where Store.Key == Base.Key, Store.Value == Base.Value {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let parts: RememberedParts<Store, Base>

  init(_ recollection: Recollection<Store, Base>) {
    parts = RememberedParts(recollection)
  }

  @inlinable var inside: Recollection<Store, Base> { parts.recollection }

  // MARK: Asking

  /// What is kept, if it is fresh, or else what is fetched.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    switch lookup.freshness {
    case .any, .atMost: inside.answer(key, lookup) { $0.value.value }
    case .reload, .cachedOnly: getStamped(key, lookup).map { $0.value }
    }
  }

  /// What is kept, if it is fresh, or else what is fetched, with its age.
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    switch lookup.freshness {
    case .any, .atMost: inside.answerFirst(key, lookup)
    case .reload: inside.reloaded(key, lookup)
    case .cachedOnly: inside.kept(key, lookup)
    }
  }

  /// What the store has at once, if it is fresh.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    inside.now(key, lookup)
  }

  /// Fetches the value anew, now, whoever waits for it: a soft refresh.
  ///
  /// What is kept stays usable meanwhile, and if the fetch fails. It never joins a fetch that has begun
  /// before. It is given up at the policy's deadline, when the key is told something else, or when this
  /// is released, unless somebody waits for its outcome then; beyond the policy's number of refreshes,
  /// it goes on only for those who do.
  ///
  /// - Returns: The new value, or why there is none; it may be ignored. Where the new one fails for a reason
  ///   for which the policy lets a stale value stand in, it is the value that is kept, if it is usable.
  @discardableResult
  public func refresh(_ key: Key) -> Signal<Value> {
    inside.refresh(key)
  }

  /// Lets nothing that is kept now count as fresh any more: the next get of each key fetches it.
  ///
  /// What is set or fetched from now on is as fresh as ever.
  ///
  /// - Complexity: O(1).
  public func refreshAll() {
    inside.ages.expireAll()
  }

  // MARK: Telling

  /// Tells the source, then the store, and lets go of the fetches that are older.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    inside.apply(change)
  }

  /// The store over the source, and the fetches.
  public func layout(for key: Key?) -> Layout {
    let flights = inside.flights
    return Layout(
      .layers, "remembered in",
      parts: [inside.store.layout(for: key), inside.base.layout(for: key)],
      flight: key.flatMap { flights.record(of: $0) }, flights: { flights.census() })
  }
}

/// Gives up what nobody waits for when nothing can be asked here any more.
@usableFromInline
final class RememberedParts<Store: Cache, Base: Source>: Sendable
where Store.Key == Base.Key, Store.Value == Base.Value {
  @usableFromInline let recollection: Recollection<Store, Base>

  init(_ recollection: Recollection<Store, Base>) {
    self.recollection = recollection
  }

  deinit {
    recollection.holds.releaseAll()
  }
}
