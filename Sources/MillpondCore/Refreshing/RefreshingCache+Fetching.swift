public import MillpondSignals

extension RefreshingCache {
  /// Returns the stored value, however old, if it is usable.
  func kept(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    store.answers(key, lookup).filter { [watchers, policy] answer in
      guard case .value(let stamped) = answer else { return true }
      // The store may have brought the value from its lower layer into memory.
      watchers.send(.kept, of: key)
      return policy.isUsable(age: stamped.age)
    }
  }

  /// Returns the stored value as a stale finding.
  func keptAsStale(_ key: Key) -> Signal<Finding> {
    kept(key, Lookup()).stampedValues().take(1).recover { _ in .empty }.map { [self] in
      finding($0, isFresh: false, requested: nil)
    }
  }

  /// Returns the stored value if it may replace one that failed with `error`; else the failure.
  func standIn(_ key: Key, for error: any Error, by use: StaleUse) -> Signal<Finding> {
    guard policy.standsIn(for: error, by: use) else { return .fail(error) }
    return keptAsStale(key).ifEmpty { .fail(error) }
  }

  /// Returns the stored value if it is fresh; else what a flight finds and the get accepts.
  @inlinable
  func answer<Element>(
    _ key: Key, _ lookup: Lookup, _ content: @escaping @Sendable (Finding) -> Element
  ) -> Signal<Element> {
    let use = lookup.stale ?? (lookup.freshness == .any ? policy.stale : .never)
    guard case .after(let delay) = use else { return find(key, lookup, use, content) }
    return answer(after: delay, find(key, lookup, use) { $0 }, content) {
      self.keepFetching(key)
    }
  }

  /// Returns the findings of the key's flight that suit this get.
  @inlinable
  func find<Element>(
    _ key: Key, _ lookup: Lookup, _ use: StaleUse,
    _ content: @escaping @Sendable (Finding) -> Element
  ) -> Signal<Element> {
    Signal { observer, lifetime in
      RefreshingGet(self, key, lookup, use, observer, lifetime, content).join()
    }
  }

  /// Tries the immediate value first, for callers that have not done so.
  func answerFirst(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    let answer = answer(key, lookup) { self.delivered($0) }
    return .deferred { [self] in
      if lookup.isObservable || now(key, lookup.counting(.nothing)) == nil { return answer }
      return store.answers(key, lookup.with(ages.fresh(key, lookup.freshness)))
        .ifNotFound { failure, _ in failure.map { .fail($0) } ?? answer }
    }
  }

  /// Fetches a new value; if that fails, returns the stored one if the get allows it.
  func reloaded(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    let use = lookup.stale ?? .never
    guard case .after(let delay) = use else {
      return reload(key, lookup).recover { self.standIn(key, for: $0, by: use) }.map { [self] in
        delivered($0)
      }
    }
    return .withCaller { [self] caller in
      // One reload, for this get and for the hold that keeps it going.
      let reload = reload(key, lookup).inContext(of: caller).replayLast()
      return answer(
        after: delay, keptAsStale(key).concat(reload), { self.delivered($0) },
        onStale: { self.refreshes.keepRunning(key, isReload: false, reload) })
    }
  }

  /// Fetches a new value, also without a caller; if that fails, returns the stored one if the
  /// policy allows it.
  func refresh(_ key: Key) -> Signal<Value> {
    let use: StaleUse =
      switch policy.stale {
      case .never, .onAnyError: policy.stale
      case .onNamedErrors, .after: .onNamedErrors
      }
    let values = reload(key, Lookup(freshness: .reload))
      .recover { self.standIn(key, for: $0, by: use) }.map { $0.value.value }.replayLast()
    refreshes.keepRunning(key, isReload: true, values)
    return values
  }

  /// Returns the findings; a stale one is delayed by `delay`.
  @inlinable
  func answer<Element>(
    after delay: Duration, _ found: Signal<Finding>,
    _ content: @escaping @Sendable (Finding) -> Element, onStale: @escaping @Sendable () -> Void
  ) -> Signal<Element> {
    let policy = policy
    return found.onNext { if !$0.value.isFresh { onStale() } }
      .timed(on: scheduler) { StaleRule(delay, policy, $0) }.map(content)
  }

  /// Returns the value with its present age: for a get that joins a flight late it is older than
  /// when found.
  private func delivered(_ finding: Finding) -> Answer<Value> {
    .value(
      Stamped(
        finding.value.value, age: finding.deliveredAge(at: scheduler.now()),
        validator: finding.validator))
  }

  /// Keeps the flight after a stale value going, for gets that may leave.
  @usableFromInline
  func keepFetching(_ key: Key) {
    refreshes.keepRunning(
      key, isReload: false,
      flights.join(key, Lookup(priority: .low)) { self.look(.any, key, $0) })
  }

  /// Puts the stored value before `flight` if that is a reload, which does not look at stored
  /// values.
  @usableFromInline
  func bringingKept(_ key: Key, _ flight: Signal<Finding>) -> Signal<Finding> {
    flights.isReloading(key) ? keptAsStale(key).concat(flight) : flight
  }

  /// Whether a stale value may now replace one that failed with `error`.
  @usableFromInline
  func isStandIn(_ found: Finding, for error: any Error, by use: StaleUse) -> Bool {
    policy.standsIn(for: error, by: use)
      && policy.isUsable(age: found.deliveredAge(at: scheduler.now()))
  }
}

extension Flights {
  /// Whether a get of the key would join a reload.
  fileprivate func isReloading(_ key: Key) -> Bool {
    table.withLock { $0.flight(of: key)?.isReload ?? false }
  }
}
