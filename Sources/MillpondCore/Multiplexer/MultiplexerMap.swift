public import MillpondSignals

/// A cache of resources by key, each of which one fetch brings for all callers, and the next once
/// it is stale.
///
///     let users = MultiplexerMap<Int, User>(persistence: .disk("users", in: folder)) { id in
///       try await api.user(id)
///     }
///     let user = try await users.get(7).value
///     users.refresh(7)                       // soft: fetches, the old value stays usable
///     users.markStale(7)                     // soft: the next get fetches
///     users.remove(7)                        // hard: later gets fetch anew
///     let some = try await users.get(all: ids).value
///
/// By default a value is fresh for 30 minutes, and is used for as long as it is stored while the
/// origin can't be reached. Failures are not remembered, and remove nothing. A fetch that began
/// before its key was set or removed is not stored; callers that wait for it still get its value.
///
/// - Note: Any thread.
public final class MultiplexerMap<Key: Hashable & Sendable, Value: Sendable>: ObservableCache {
  @usableFromInline typealias Kept = Layered<
    MemoryCache<Key, Value>, HidingUnsaved<AnyCache<Key, Value>>
  >

  @usableFromInline let remembered: Remembered<Kept, Governed<AnyCache<Key, Value>>>
  @usableFromInline let memory: MemoryCache<Key, Value>
  @usableFromInline let ages: FreshAges<Key>
  let unsaved = UnsavedChanges<Key>()
  let writes = WritesUnderWay()
  let persistence: Persistence<Key, Value>

  /// Creates a map over a source.
  ///
  /// - Parameters:
  ///   - source: Asked once for all callers that wait for a key; a batching ``BulkSource`` makes
  ///     one call for many keys.
  ///   - countLimit: The greatest number of values in memory.
  ///   - freshness: The time for which values are fresh, and the use of stale ones.
  ///   - persistence: The store in which values outlive the process.
  ///   - scope: The scope whose end removes everything and fails waiting callers with
  ///     ``CacheError/scopeEnded(key:)``. It releases the map's stores when the map is released, or, if
  ///     values outlive the process, at the next end that removes them.
  ///   - clock: The clock that measures the age of values.
  public init(
    over source: some Source<Key, Value>, countLimit: Int = 10_000,
    freshness: FreshnessPolicy = .multiplexed, persistence: Persistence<Key, Value> = .none,
    scope: CacheScope? = nil, clock: some Clock<Duration> = ContinuousClock()
  ) {
    memory = MemoryCache(countLimit: countLimit, clock: clock)
    self.persistence = persistence
    let saving = HidingUnsaved(base: persistence.cache, unsaved: unsaved)
    let refreshing = RefreshingCache(
      memory.layered(over: saving), AnyCache(source).stoppable(), freshness, clock)
    ages = refreshing.ages
    let erase: @Sendable () -> Signal<Void> = { [writes] in
      let revision = Revision.next()
      return writes.run(revision) { refreshing.apply(.removeAll(revision)) }
    }
    let isPersistent = persistence.isLasting
    // Not through memory, where a lookup counts as a get.
    remembered = Remembered(
      refreshing, in: scope.map { ($0, $0.add(isPersistent: isPersistent, erase: erase)) },
      peek: { [memory] in memory.peekStamped($0) }, stored: saving.getStamped)
  }

  /// Creates a map over an asynchronous function.
  ///
  /// - Parameters:
  ///   - countLimit: The greatest number of values in memory.
  ///   - freshness: The time for which values are fresh, and the use of stale ones.
  ///   - persistence: The store in which values outlive the process.
  ///   - scope: The scope whose end removes everything and fails waiting callers with
  ///     ``CacheError/scopeEnded(key:)``.
  ///   - clock: The clock that measures the age of values.
  ///   - fetch: Runs in a task, once for all callers that wait for a key; cancelled when the last
  ///     one leaves, or after a minute: for another time limit give a ``FunctionSource``.
  public convenience init(
    countLimit: Int = 10_000, freshness: FreshnessPolicy = .multiplexed,
    persistence: Persistence<Key, Value> = .none, scope: CacheScope? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) {
    self.init(
      over: FunctionSource(fetch), countLimit: countLimit,
      freshness: freshness, persistence: persistence, scope: scope, clock: clock)
  }

  /// Creates a map over signals.
  ///
  /// - Parameters:
  ///   - countLimit: The greatest number of values in memory.
  ///   - freshness: The time for which values are fresh, and the use of stale ones.
  ///   - persistence: The store in which values outlive the process.
  ///   - scope: The scope whose end removes everything and fails waiting callers with
  ///     ``CacheError/scopeEnded(key:)``.
  ///   - clock: The clock that measures the age of values.
  ///   - signal: Makes a signal that is subscribed to once for all callers that wait for a key, and
  ///     disposed of when the last one leaves.
  public convenience init(
    countLimit: Int = 10_000, freshness: FreshnessPolicy = .multiplexed,
    persistence: Persistence<Key, Value> = .none, scope: CacheScope? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    signal: @escaping @Sendable (Key) -> Signal<Value>
  ) {
    self.init(
      over: FunctionSource.signal(signal), countLimit: countLimit, freshness: freshness,
      persistence: persistence, scope: scope, clock: clock)
  }

  /// Creates a map over a function with a completion handler.
  ///
  ///     let users = MultiplexerMap<Int, User>(callback: api.loadUser)
  ///
  /// The handler's first call counts, from any thread, and later calls are ignored. If the function
  /// releases the handler without calling it, waiting callers fail with `SignalError.abandoned`.
  ///
  /// - Parameters:
  ///   - countLimit: The greatest number of values in memory.
  ///   - freshness: The time for which values are fresh, and the use of stale ones.
  ///   - persistence: The store in which values outlive the process.
  ///   - scope: The scope whose end removes everything and fails waiting callers with
  ///     ``CacheError/scopeEnded(key:)``.
  ///   - clock: The clock that measures the age of values.
  ///   - file: The file to name if the handler is abandoned.
  ///   - line: The line to name.
  ///   - callback: Starts a fetch once for all callers that wait for a key, and passes the result
  ///     to its second parameter, within a minute. What it started is not cancelled when the last caller leaves;
  ///     where it can be, make a signal of it.
  public convenience init(
    countLimit: Int = 10_000, freshness: FreshnessPolicy = .multiplexed,
    persistence: Persistence<Key, Value> = .none, scope: CacheScope? = nil,
    clock: some Clock<Duration> = ContinuousClock(), file: StaticString = #fileID,
    line: UInt = #line,
    callback:
      @escaping @Sendable (Key, @escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) {
    self.init(
      over: FunctionSource.callback(file: file, line: line, callback), countLimit: countLimit,
      freshness: freshness, persistence: persistence, scope: scope, clock: clock)
  }

  // MARK: Gets

  /// Returns the stored value if it is fresh, or else a fetched one.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    remembered.get(key, lookup)
  }

  /// Returns the stored value if it is fresh, or else a fetched one, with its age.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    remembered.answers(key, lookup)
  }

  /// Returns the value in memory if it is fresh.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    remembered.membership?.noteViewer()
    if case .any = lookup.freshness, ages.policy.refreshAhead <= .zero {
      return memory.now(key, lookup.with(ages.fresh(key, .any)))
    }
    return remembered.now(key, lookup)
  }

  /// Returns the value in memory, however old; this does not count as a use.
  ///
  /// - Parameter key: The key.
  public func current(_ key: Key) -> Value? {
    memory.peek(key)
  }

  /// Returns the state of a key, now and after every change; subscribing fetches nothing.
  ///
  /// The first state shows memory, and the value in the persistence follows.
  ///
  ///     profiles.states(of: id).subscribeOnMain(onNext: { view.show($0) })
  public func states(of key: Key) -> Signal<ResourceState<Value>> {
    remembered.states(of: key)
  }

  /// Returns the state of a key, now and after every change, and fetches the value when it is
  /// stale.
  public func observe(
    _ key: Key, every interval: Duration?, refreshingOn trigger: Signal<Void>, _ lookup: Lookup
  ) -> Signal<ResourceState<Value>> {
    remembered.observe(key, every: interval, refreshingOn: trigger, lookup)
  }

  // MARK: Writes

  /// Fetches a new value now, also without a caller; during a fetch, another one follows it.
  @discardableResult
  public func refresh(_ key: Key) -> Signal<Value> {
    remembered.refresh(key)
  }

  /// Makes the value of a key stale, without a fetch: the next get fetches a new one.
  public func markStale(_ key: Key) {
    remembered.markStale(key)
  }

  /// Makes every value stale, in memory and in the persistence, without a fetch.
  public func markAllStale() {
    remembered.markAllStale()
  }

  /// Writes to memory and to the persistence.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let revision = persistence.isLasting ? change.revision : nil
    return writes.run(revision) { remembered.apply(change) }
  }

  /// The stores over the source.
  public func topology(for key: Key?) -> Topology {
    remembered.topology(for: key).flushing { self.flush($0) }
  }
}

extension FreshnessPolicy {
  /// The policy of a multiplexer: fresh for 30 minutes, then used for as long as it is stored while
  /// the origin can't be reached.
  public static var multiplexed: FreshnessPolicy {
    FreshnessPolicy(freshFor: .after(.seconds(1_800)))
  }
}
