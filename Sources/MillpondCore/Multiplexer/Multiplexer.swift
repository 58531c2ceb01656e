public import MillpondSignals

/// A cache of one resource, which one fetch brings for all callers, and the next once it is stale.
///
///     let profile = Multiplexer<Profile>(persistence: .disk("profile", in: folder)) {
///       try await api.profile()
///     }
///     let mine = try await profile.get().value
///     profile.states.subscribeOnMain(onNext: { view.show($0) })
///     profile.refresh()                      // soft: fetches, the old value stays usable
///     profile.markStale()                    // soft: the next get fetches
///     profile.remove()                       // hard: later gets fetch anew
///
/// By default the value is fresh for 30 minutes, and is used for as long as it is stored while the
/// origin can't be reached. A failure is not remembered, and removes nothing.
///
/// A function with a completion handler takes one line over this:
///
///     func request(completion: @escaping @Sendable (Result<Profile, any Error>) -> Void) {
///       profile.get().take(1).settle().subscribe(onNext: completion)
///     }
///
/// - Note: Any thread.
public final class Multiplexer<Value: Sendable>: Sendable {
  @usableFromInline let map: MultiplexerMap<String, Value>

  /// Creates a multiplexer over an asynchronous function.
  ///
  /// - Parameters:
  ///   - freshness: The time for which the value is fresh, and the use of a stale one.
  ///   - persistence: The store in which the value outlives the process. It must not be shared,
  ///     since the key is always the same.
  ///   - scope: The scope whose end removes the value and fails waiting callers with
  ///     ``CacheError/scopeEnded(key:)``.
  ///   - clock: The clock that measures the age of the value.
  ///   - fetch: Runs in a task, once for all callers that wait; cancelled when the last one leaves, or
  ///     after a minute.
  public convenience init(
    freshness: FreshnessPolicy = .multiplexed, persistence: Persistence<String, Value> = .none,
    scope: CacheScope? = nil, clock: some Clock<Duration> = ContinuousClock(),
    fetch: @escaping @Sendable () async throws -> Value
  ) {
    self.init(
      over: FunctionSource { _ in try await fetch() }, freshness: freshness,
      persistence: persistence, scope: scope, clock: clock)
  }

  private init(
    over source: FunctionSource<String, Value>, freshness: FreshnessPolicy,
    persistence: Persistence<String, Value>, scope: CacheScope?, clock: some Clock<Duration>
  ) {
    map = MultiplexerMap(
      over: source, countLimit: 1, freshness: freshness, persistence: persistence, scope: scope,
      clock: clock)
  }

  /// Creates a multiplexer over a signal.
  ///
  /// - Parameters:
  ///   - freshness: The time for which the value is fresh, and the use of a stale one.
  ///   - persistence: The store in which the value outlives the process. It must not be shared,
  ///     since the key is always the same.
  ///   - scope: The scope whose end removes the value and fails waiting callers with
  ///     ``CacheError/scopeEnded(key:)``.
  ///   - clock: The clock that measures the age of the value.
  ///   - signal: Makes a signal that is subscribed to once for all callers that wait, and disposed
  ///     of when the last one leaves. `Signal.create(file:line:_:)` makes one from a callback.
  public convenience init(
    freshness: FreshnessPolicy = .multiplexed, persistence: Persistence<String, Value> = .none,
    scope: CacheScope? = nil, clock: some Clock<Duration> = ContinuousClock(),
    signal: @escaping @Sendable () -> Signal<Value>
  ) {
    self.init(
      over: .signal { _ in signal() }, freshness: freshness, persistence: persistence,
      scope: scope, clock: clock)
  }

  /// Creates a multiplexer over a function with a completion handler.
  ///
  ///     let profile = Multiplexer<Profile>(callback: api.loadProfile)
  ///
  /// The handler's first call counts, from any thread, and later calls are ignored. If the function
  /// releases the handler without calling it, waiting callers fail with `SignalError.abandoned`.
  ///
  /// - Parameters:
  ///   - freshness: The time for which the value is fresh, and the use of a stale one.
  ///   - persistence: The store in which the value outlives the process. It must not be shared,
  ///     since the key is always the same.
  ///   - scope: The scope whose end removes the value and fails waiting callers with
  ///     ``CacheError/scopeEnded(key:)``.
  ///   - clock: The clock that measures the age of the value.
  ///   - file: The file to name if the handler is abandoned.
  ///   - line: The line to name.
  ///   - callback: Starts a fetch once for all callers that wait, and passes the result to its
  ///     parameter, within a minute. What it started is not cancelled when the last caller leaves; where it can be,
  ///     make a signal of it.
  public convenience init(
    freshness: FreshnessPolicy = .multiplexed, persistence: Persistence<String, Value> = .none,
    scope: CacheScope? = nil, clock: some Clock<Duration> = ContinuousClock(),
    file: StaticString = #fileID, line: UInt = #line,
    callback: @escaping @Sendable (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) {
    self.init(
      over: .callback(file: file, line: line) { _, answer in callback(answer) },
      freshness: freshness, persistence: persistence, scope: scope, clock: clock)
  }

  @usableFromInline static var key: String { "value" }

  /// Returns the stored value if it is fresh, or else a fetched one.
  ///
  /// The parameters are those of ``Source/get(_:priority:freshness:stale:deadline:file:line:)``.
  @inlinable
  public func get(
    priority: Priority = .normal, freshness: Freshness = .any, stale: StaleUse? = nil,
    deadline: Deadline? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> Signal<Value> {
    map.get(
      Self.key, priority: priority, freshness: freshness, stale: stale, deadline: deadline,
      file: file, line: line)
  }

  /// The value in memory, however old.
  public var current: Value? {
    map.current(Self.key)
  }

  /// The state of the resource, now and after every change; subscribing fetches nothing.
  ///
  /// See ``MultiplexerMap/states(of:)``.
  public var states: Signal<ResourceState<Value>> {
    map.states(of: Self.key)
  }

  /// Returns the state of the resource, now and after every change, and fetches the value when it
  /// is stale.
  ///
  /// The parameters and rules are those of ``ObservableCache/observe(_:every:refreshingOn:file:line:)``.
  /// The signal fails with ``CacheError/scopeEnded(key:)`` when the scope ends.
  ///
  ///     profile.observe(refreshingOn: foreground).subscribeOnMain(onNext: { view.show($0) })
  ///
  /// - Parameters:
  ///   - interval: The age at which the value is fetched again; nil for none.
  ///   - trigger: Fetches the value again whenever it sends.
  ///   - file: The file of the call, which debug builds show in a ``FlightRecord``.
  ///   - line: The line of the call.
  public func observe(
    every interval: Duration? = nil, refreshingOn trigger: Signal<Void> = .never,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Signal<ResourceState<Value>> {
    map.observe(Self.key, every: interval, refreshingOn: trigger, file: file, line: line)
  }

  /// Fetches a new value now, also without a caller: a soft refresh.
  ///
  /// The stored value stays usable during the fetch and after its failure. During a fetch, another
  /// one follows it.
  ///
  /// - Returns: The new value or the failure, which may be ignored. If the policy lets a stale
  ///   value replace this failure, the stored value, if it is usable.
  @discardableResult
  public func refresh() -> Signal<Value> {
    map.refresh(Self.key)
  }

  /// Makes the value stale, without a fetch: the next get fetches a new one.
  ///
  /// The old value stays usable as after ``refresh()``. The mark is lost with the process, and the
  /// persisted value is then stale by its age only.
  public func markStale() {
    map.markStale(Self.key)
  }

  /// Removes the value from memory and from its persistence: a hard refresh.
  ///
  /// Callers that wait for a fetch get its value, but it is not stored; later gets do not join that
  /// fetch.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func remove() -> Signal<Void> {
    map.removeAll()
  }

  /// Stores `value` as if it had been fetched now; an older fetch does not overwrite it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - timeToLive: The time for which it is stored, fresh or stale; nil for no limit.
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func set(_ value: Value, timeToLive: TimeToLive? = nil) -> Signal<Void> {
    map.apply(.set(Self.key, Stamped(value, timeToLive: timeToLive), .next()))
  }

  /// Completes when the value is stored where it outlives the process; see
  /// ``MultiplexerMap/flush()``.
  @discardableResult
  public func flush() -> Signal<Void> {
    map.flush()
  }

  /// Flushes, and returns when that is done: the form for asynchronous code.
  ///
  /// - Throws: The failure of a change that still can't be saved.
  public nonisolated(nonsending) func flush() async throws {
    try await flush().value
  }
}

extension Multiplexer {
  /// The map whose only value this is, for an inspector.
  package var inspected: MultiplexerMap<String, Value> { map }
}
