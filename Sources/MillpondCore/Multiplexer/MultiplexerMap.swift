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
public final class MultiplexerMap<Key: Hashable & Sendable, Value: Sendable>: Cache {
  @usableFromInline typealias Kept = Layered<MemoryCache<Key, Value>, Saving<AnyCache<Key, Value>>>

  @usableFromInline let remembered: Remembered<Kept, Stoppable<AnyCache<Key, Value>>>
  @usableFromInline let memory: MemoryCache<Key, Value>
  @usableFromInline let ages: FreshAges<Key>
  let unsaved = UnsavedChanges<Key>()
  let writes = WritesUnderWay()
  let persistence: Persistence<Key, Value>
  @usableFromInline let scope: CacheScope?
  private let membership: ScopedDisposable?

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
    self.scope = scope
    let saving = Saving(base: persistence.cache, unsaved: unsaved)
    let refreshing = RefreshingCache(
      memory.layered(over: saving), AnyCache(source).stoppable(), freshness, clock)
    ages = refreshing.ages
    // Not through memory, where a lookup counts as a get.
    remembered = Remembered(
      refreshing, peek: { [memory] in memory.peekStamped($0) }, stored: saving.getStamped)
    let erase: @Sendable () -> Signal<Void> = { [writes] in
      let revision = Revision.next()
      return writes.run(revision) { refreshing.apply(.removeAll(revision)) }
    }
    membership = scope?.add(isPersistent: persistence.isLasting, erase: erase).scoped()
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
  ///     one leaves.
  public convenience init(
    countLimit: Int = 10_000, freshness: FreshnessPolicy = .multiplexed,
    persistence: Persistence<Key, Value> = .none, scope: CacheScope? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    fetch: @escaping @Sendable (Key) async throws -> Value
  ) {
    self.init(
      over: FunctionSource.async(fetch), countLimit: countLimit,
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
  ///     to its second parameter. What it started is not cancelled when the last caller leaves;
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
    untilEnd(remembered.get(key, lookup), key)
  }

  /// Returns the stored value if it is fresh, or else a fetched one, with its age.
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    untilEnd(remembered.getStamped(key, lookup), key)
  }

  @inlinable
  func untilEnd<Answer>(_ answer: Signal<Answer>, _ key: Key) -> Signal<Answer> {
    guard let scope else { return answer }
    return scope.untilEnd(answer) { String(withoutSecrets: key) }
  }

  /// Returns the value in memory if it is fresh.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
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
  /// The first state shows memory, and the value in the persistence follows. Otherwise as
  /// ``Remembered/states(of:)``.
  ///
  ///     profiles.states(of: id).subscribeOnMain(onNext: { view.show($0) })
  public func states(of key: Key) -> Signal<ResourceState<Value>> {
    remembered.states(of: key)
  }

  /// Returns the state of a key, now and after every change, and fetches the value when it is
  /// stale.
  ///
  /// The parameters and rules are those of ``Remembered/observe(_:every:refreshingOn:file:line:)``.
  /// The signal fails with ``CacheError/scopeEnded(key:)`` when the scope ends.
  ///
  ///     profiles.observe(id, every: .seconds(60), refreshingOn: foreground)
  ///       .subscribeOnMain(onNext: { view.show($0) })
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - interval: The age at which the value is fetched again; nil for none.
  ///   - trigger: Fetches the value again whenever it sends.
  ///   - file: The file of the call, which debug builds show in a ``FlightRecord``.
  ///   - line: The line of the call.
  public func observe(
    _ key: Key, every interval: Duration? = nil, refreshingOn trigger: Signal<Void> = .never,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Signal<ResourceState<Value>> {
    untilEnd(
      remembered.observe(
        key, every: interval, refreshingOn: trigger, file: file, line: line), key)
  }

  // MARK: Writes

  /// Fetches a new value now, also without a caller: a soft refresh.
  ///
  /// The stored value stays usable during the fetch and after its failure. During a fetch, another
  /// one follows it; see ``Remembered/refresh(_:)``.
  ///
  /// - Parameter key: The key.
  /// - Returns: The new value or the failure, which may be ignored. If the policy lets a stale
  ///   value replace this failure, the stored value, if it is usable.
  @discardableResult
  public func refresh(_ key: Key) -> Signal<Value> {
    let endCount = scope?.endCount
    let values = remembered.refresh(key)
    return scope?.untilEnd(values, since: endCount) { String(withoutSecrets: key) } ?? values
  }

  /// Makes the value of a key stale, without a fetch: the next get fetches a new one.
  ///
  /// The old value stays usable as after ``refresh(_:)``; see ``Remembered/markStale(_:)``. The
  /// mark is lost with the process, and the persisted value is then stale by its age only.
  ///
  /// - Complexity: O(1). The marks of 4,096 keys are noted; with more, every value becomes stale.
  public func markStale(_ key: Key) {
    remembered.markStale(key)
  }

  /// Makes every value stale, in memory and in the persistence, without a fetch: the next get of
  /// each key fetches a new one.
  ///
  /// - Complexity: O(1).
  public func markAllStale() {
    remembered.markAllStale()
  }

  /// Writes to memory and to the persistence.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let revision = persistence.isLasting ? change.revision : nil
    let outcome = writes.run(revision) { remembered.apply(change) }
    scope?.wait(for: outcome)
    return outcome
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
