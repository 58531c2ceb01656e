public import MillpondSignals

/// Remembers one resource: it is fetched once for all who ask, and again when it is not fresh any more.
///
///     let profile = Multiplexer<Profile>(persistence: .disk("profile", in: folder)) {
///       try await api.profile()
///     }
///     let mine = try await profile.get().value
///     profile.states.subscribeOnMain(onNext: { view.show($0) })
///     profile.refresh()                      // soft: asks, the old value stays usable
///     profile.clear()                        // hard: what is asked from now on is asked anew
///
/// By default the value is fresh for 30 minutes, and stands in as long as it is kept when the origin
/// can't be reached. A failure is not remembered, and destroys nothing.
///
/// Where a function with a completion handler is wanted, it is one line over this:
///
///     func request(completion: @escaping @Sendable (Result<Profile, any Error>) -> Void) {
///       profile.get().take(1).settle().subscribe(onNext: completion)
///     }
///
/// - Note: Any thread.
public final class Multiplexer<Value: Sendable>: Sendable {
  @usableFromInline let map: MultiplexerMap<String, Value>

  /// Remembers what `fetch` brings.
  ///
  /// - Parameters:
  ///   - freshness: How long the value is fresh, and what is done then.
  ///   - persistence: Where it outlives the process; of its own, since its key there is always the same.
  ///   - scope: With which it ends: what is kept is removed, and those who wait fail with
  ///     ``CacheError/scopeEnded``.
  ///   - clock: By which the value grows old.
  ///   - fetch: Runs in a task, once for all who wait; it is cancelled when nobody waits any more.
  public convenience init(
    freshness: FreshnessPolicy = .multiplexed, persistence: Persistence<String, Value> = .none,
    scope: CacheScope? = nil, clock: some Clock<Duration> = ContinuousClock(),
    fetch: @escaping @Sendable () async throws -> Value
  ) {
    self.init(
      freshness: freshness, persistence: persistence, scope: scope, clock: clock,
      signal: { .async { try await fetch() } })
  }

  /// Remembers what a signal sends.
  ///
  /// - Parameter signal: Is made, and subscribed to, once for all who wait; it is disposed of when nobody
  ///   waits any more. What calls back is made one by ``Signal/create(file:line:_:)``.
  public init(
    freshness: FreshnessPolicy = .multiplexed, persistence: Persistence<String, Value> = .none,
    scope: CacheScope? = nil, clock: some Clock<Duration> = ContinuousClock(),
    signal: @escaping @Sendable () -> Signal<Value>
  ) {
    map = MultiplexerMap(
      over: Fetch { _ in signal() }, countLimit: 1, freshness: freshness,
      persistence: persistence, scope: scope, clock: clock)
  }

  @usableFromInline static var key: String { "value" }

  /// The value: what is kept, if it is fresh, or else what is fetched.
  ///
  /// The terms are those of ``Source/get(_:priority:freshness:stale:deadline:file:line:)``.
  @inlinable
  public func get(
    priority: Priority = .normal, freshness: Freshness = .any, stale: StaleUse? = nil,
    deadline: Deadline? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> Signal<Value> {
    map.get(
      Self.key, priority: priority, freshness: freshness, stale: stale, deadline: deadline,
      file: file, line: line)
  }

  /// What is in memory, however old.
  public var current: Value? {
    map.current(Self.key)
  }

  /// What is known of the resource, now and whenever that changes; nothing is fetched for it.
  ///
  /// See ``MultiplexerMap/states(of:)``.
  public var states: Signal<ResourceState<Value>> {
    map.states(of: Self.key)
  }

  /// Fetches the value anew, now, whoever waits for it: a soft refresh.
  ///
  /// What is kept stays usable meanwhile, and if the fetch fails. During a fetch it means one more, after
  /// it.
  ///
  /// - Returns: The new value, or why there is none; it may be ignored. Where the new one fails for a reason
  ///   for which the policy lets a stale value stand in, it is the value that is kept, if it is usable.
  @discardableResult
  public func refresh() -> Signal<Value> {
    map.refresh(Self.key)
  }

  /// Forgets the value, wherever it is kept: a hard refresh.
  ///
  /// Those who wait for a fetch get its value, but that is not kept; who asks from now on is not served
  /// by it.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func clear() -> Signal<Void> {
    map.removeAll()
  }

  /// Keeps `value`, as if it had been fetched now; an older fetch does not overwrite it.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func store(_ value: Value) -> Signal<Void> {
    map.set(value, for: Self.key)
  }

  /// Completes when the value is where it outlives the process; see ``MultiplexerMap/flush()``.
  @discardableResult
  public func flush() -> Signal<Void> {
    map.flush()
  }
}
