public import MillpondSignals

/// Remembers what is fetched, by key: each key is fetched once for all who ask, and again when its value
/// is not fresh any more.
///
///     let users = MultiplexerMap<Int, User>(persistence: .disk("users", in: folder)) { id in
///       try await api.user(id)
///     }
///     let user = try await users.get(7).value
///     users.refresh(7)                       // soft: asks, the old value stays usable
///     users.remove(7)                        // hard: what is asked from now on is asked anew
///     let some = try await users.get(all: ids).value
///
/// By default a value is fresh for 30 minutes, and stands in as long as it is kept when the origin can't
/// be reached. Failures are not remembered, and destroy nothing. A fetch that was asked for before a
/// value was set or removed is not kept; those who wait for it get it all the same.
///
/// - Note: Any thread.
public final class MultiplexerMap<Key: Hashable & Sendable, Value: Sendable>: Cache {
  @usableFromInline typealias Kept = Layered<MemoryCache<Key, Value>, Saving<AnyCache<Key, Value>>>

  @usableFromInline let remembered: Remembered<Kept, AnyCache<Key, Value>>
  @usableFromInline let memory: MemoryCache<Key, Value>
  @usableFromInline let ages: FreshAges<Key>
  let watchers: Watchers<Key>
  let unsaved = Unsaved<Key>()
  let persistence: Persistence<Key, Value>
  @usableFromInline let scope: CacheScope?
  private let membership: ScopedDisposable?

  /// Remembers what `source` answers.
  ///
  /// - Parameters:
  ///   - source: Asked once for all who wait for a key; a ``BulkSource`` that is batching makes one call
  ///     of many keys.
  ///   - countLimit: How many values are kept in memory.
  ///   - freshness: How long a value is fresh, and what is done then.
  ///   - persistence: Where values outlive the process.
  ///   - scope: With which all ends: what is kept is removed, and those who wait fail with
  ///     ``CacheError/scopeEnded``. When the map is released, the scope lets go of it; where values outlive
  ///     the process, at the next end that removes them.
  ///   - clock: By which values grow old.
  public init(
    over source: some Source<Key, Value>, countLimit: Int = 10_000,
    freshness: FreshnessPolicy = .multiplexed, persistence: Persistence<Key, Value> = .none,
    scope: CacheScope? = nil, clock: some Clock<Duration> = ContinuousClock()
  ) {
    memory = MemoryCache(countLimit: countLimit, clock: clock)
    watchers = Watchers()
    self.persistence = persistence
    self.scope = scope
    let store = memory.layered(over: Saving(base: persistence.cache, unsaved: unsaved))
    let recollection = Recollection(store, AnyCache(source), freshness, clock) {
      [watchers] key, news in watchers.tell(key, news)
    }
    ages = recollection.ages
    remembered = Remembered(recollection)
    let erase: @Sendable () -> Signal<Void> = { [recollection, watchers] in
      let change = Change<Key, Value>.removeAll(.next())
      let outcome = recollection.apply(change)
      watchers.tell(change, outcome)
      return outcome
    }
    membership = scope?.add(isPersistent: persistence.isLasting, erase: erase).scoped()
  }

  /// Remembers what `fetch` brings.
  ///
  /// - Parameter fetch: Runs in a task, once for all who wait for a key; it is cancelled when nobody
  ///   waits any more.
  public convenience init(
    countLimit: Int = 10_000, freshness: FreshnessPolicy = .multiplexed,
    persistence: Persistence<Key, Value> = .none, scope: CacheScope? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) {
    self.init(
      over: Fetch { key in .async { try await fetch(key) } }, countLimit: countLimit,
      freshness: freshness, persistence: persistence, scope: scope, clock: clock)
  }

  // MARK: Asking

  /// What is kept, if it is fresh, or else what is fetched.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    untilEnd(remembered.get(key, lookup))
  }

  /// What is kept, if it is fresh, or else what is fetched, with its age.
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    untilEnd(remembered.getStamped(key, lookup))
  }

  @inlinable
  func untilEnd<Answer>(_ answer: Signal<Answer>) -> Signal<Answer> {
    guard let scope else { return answer }
    return scope.untilEnd(answer)
  }

  /// What is in memory, if it is fresh.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    if case .any = lookup.freshness, ages.policy.refreshAhead <= .zero {
      return memory.now(key, lookup.with(ages.fresh(key, .any)))
    }
    return remembered.now(key, lookup)
  }

  /// What is in memory, however old; it does not count as asked for.
  public func current(_ key: Key) -> Value? {
    memory.peek(key)
  }

  /// What is known of a key, now and whenever that changes; nothing is fetched for it.
  ///
  /// A value is in it only if it was stored: not one that was fetched for a get from before a write, or
  /// from before the end of the scope. It begins with what is in memory, and what is kept beyond that
  /// follows. Never ends. What it sends was true when it was sent, so of many changes at once some may be
  /// sent twice, and the last is right.
  ///
  ///     profiles.states(of: id).subscribeOnMain(onNext: { view.show($0) })
  public func states(of key: Key) -> Signal<ResourceState<Value>> {
    // The subscriptions to the news come first, so that nothing is missed.
    let resource = watchers.news(of: key)
      // What happens below a value in memory is not seen.
      .filter { [memory] in $0.isChange && ($0 != .settled || memory.peek(key) == nil) }
      .merge(.just(.removed))
      .flatMap(.latest) { [self] in kept(key, after: $0) }
      .scan(KeptResource.nothing) { $1.after($0) }
    let fetches = watchers.news(of: key).filter { !$0.isChange }.map { _ in () }.merge(.just(()))
    return combineLatest(resource, fetches).map { [self] resource, _ in state(of: key, resource) }
  }

  /// What is kept after some news: what is in memory, or else what the store below it gives.
  ///
  /// It is looked up after the change has arrived, and a change that arrives meanwhile is followed by
  /// another look. So it does not matter in which order the news of several changes comes.
  private func kept(_ key: Key, after news: RememberedNews) -> Signal<KeptResource<Value>> {
    let provenance = ResourceState<Value>.Provenance(news)
    if let stamped = memory.peekStamped(key) {
      return .just(KeptResource(value: stamped, provenance: provenance))
    }
    // Not by way of memory, where a look counts as a get.
    let found = store.getStamped(key, Lookup(freshness: .cachedOnly))
      .filter { [ages] in ages.policy.isUsable(age: $0.age) }
      .map { KeptResource(value: $0, provenance: provenance) }
    // What was removed is not shown until the store has answered, nor if that fails.
    let answer =
      news == .removed ? found.startWith(.nothing) : found.ifEmpty { .just(.nothing) }
    // A state works for nobody, also where the work for others brings the news.
    return answer.recover { _ in .empty }.inContext(of: nil)
  }

  private func state(of key: Key, _ kept: KeptResource<Value>) -> ResourceState<Value> {
    // What was found may be old by now; what is in memory is not.
    let value = memory.peekStamped(key) ?? kept.value
    return ResourceState(
      value: value?.value, age: value?.age,
      provenance: value == nil ? nil : kept.provenance ?? .kept,
      isLoading: watchers.isFetching(key), error: remembered.inside.failures.last(key))
  }

  // MARK: Telling

  /// Fetches the value anew, now, whoever waits for it: a soft refresh.
  ///
  /// What is kept stays usable meanwhile, and if the fetch fails. During a fetch it means one more, after
  /// it; see ``Remembered/refresh(_:)``.
  ///
  /// - Returns: The new value, or why there is none; it may be ignored. Where the new one fails for a reason
  ///   for which the policy lets a stale value stand in, it is the value that is kept, if it is usable.
  @discardableResult
  public func refresh(_ key: Key) -> Signal<Value> {
    let endCount = scope?.endCount
    let values = remembered.refresh(key)
    return scope?.untilEnd(values, since: endCount) ?? values
  }

  /// Lets nothing that is kept now count as fresh any more: the next get of each key fetches it.
  ///
  /// - Complexity: O(1).
  public func refreshAll() {
    remembered.refreshAll()
  }

  /// Keeps or forgets, in memory and where values outlive the process.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = remembered.apply(change)
    watchers.tell(change, outcome)
    if let scope, !outcome.isDone { scope.wait(for: outcome) }
    return outcome
  }

  /// What is kept over what is fetched.
  public func layout(for key: Key?) -> Layout {
    remembered.layout(for: key).flushing { self.flush($0) }
  }
}

extension FreshnessPolicy {
  /// That of a multiplexer: fresh for 30 minutes, and then as long as it is kept where the origin can't
  /// be reached.
  public static var multiplexed: FreshnessPolicy {
    FreshnessPolicy(freshFor: .after(.seconds(1_800)))
  }
}

/// What is fetched by a closure.
struct Fetch<Key: Hashable & Sendable, Value: Sendable>: Source {
  let fetch: @Sendable (Key) -> Signal<Value>

  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    fetch(key)
  }
}
