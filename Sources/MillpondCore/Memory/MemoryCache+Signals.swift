public import MillpondSignals

/// A dictionary of replayed signals: the entry of a key is a signal that all its callers share.
///
///     cache[url] = download(url).replayLast()      // an entry that runs when it is subscribed to
///     cache[url]?.subscribe(onNext: show)          // the latest value, what follows, and the end
///     cache[url] = nil                             // removed; present subscribers stay subscribed
///     let image = cache.signal(for: url) { download(url) }   // finds, joins or starts
///
/// An entry runs from its first subscription. While it runs it takes up no room and is never
/// evicted, and every get of its key joins it, also after its first value. When it completes, its
/// last value stays, under the limits and times of the cache; a failure or an empty end leaves
/// nothing. When its last subscriber leaves before its end, the run is cancelled and the entry
/// removed; a value that it has sent by then stays.
/// A later write of the key wins: the entry serves its present subscribers, and its value is not
/// stored.
///
/// At most 10,000 entries wait for a subscriber or run; beyond that an assigned signal is not kept,
/// and a started one is not shared.
extension MemoryCache {
  /// The signal of a key: its stored value, or its running or waiting entry; nil if there is
  /// neither.
  ///
  /// The signal of an entry joins it at each subscription, and completes empty if the entry has
  /// been removed by then. It fails with ``CacheError/circular(key:)`` if the work of the entry
  /// waits for it. A new entry replaces the stored value and the former entry of the key; nil
  /// removes both. The cache shares the run of each entry, so the assigned signal need not be
  /// replayed. To start it at once, and let it run to its end in any case, subscribe:
  /// `cache[key]?.subscribe()`.
  ///
  /// - Complexity: O(1).
  @inlinable
  public subscript(key: Key) -> Signal<Value>? {
    get {
      let isUnderWay = flights?.has(key) ?? false
      let lookup = Lookup().counting(isUnderWay ? .hits : .everything)
      if let value = now(key, lookup) { return .just(value) }
      return isUnderWay ? get(key) : nil
    }
    set {
      guard let newValue else {
        remove(key)
        return
      }
      // Before the entry, so that a set that finds the entry is later, and keeps its value.
      let revision = Revision.next()
      // Before the removal, which refuses the values of all former entries.
      makeFlights().assign(key, newValue.map { Stamped($0) }, revision)
      // A later write has arrived in between, and wins over this entry.
      if !removeStored(key, revision) { detachFlight(of: key, upTo: revision) }
    }
  }

  /// Returns the stored value of a key, joins its entry, or starts a new one with `make`.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - timeToLive: The time for which the last value of a new entry is stored, from the moment it
  ///     arrives; nil for that of the cache, which limits it in any case.
  ///   - make: Makes the signal of a new entry. Called during a subscription, on its thread, for
  ///     one of all callers that come meanwhile.
  /// - Returns: A signal that fails as the entry fails, and with ``CacheError/circular(key:)`` if
  ///   `make` waits for its own key.
  /// - Complexity: O(1).
  @inlinable
  public func signal(
    for key: Key, timeToLive: TimeToLive? = nil,
    orStart make: @escaping @Sendable () -> Signal<Value>
  ) -> Signal<Value> {
    Signal(
      start: { observer, lifetime in
        if let stamped = self.look(key, .any, .everything) {
          observer.next(stamped.value)
          return observer.completed()
        }
        self.joinFlight(key, Lookup()) { make().map { Stamped($0, timeToLive: timeToLive) } }
          .map { $0.value }.run(observer, lifetime)
      },
      now: { self.now(key, Lookup()) },
      emptyError: Miss.self)
  }
}

extension MemoryCache {
  /// The running and waiting entries; nil if there was never one.
  @inlinable
  var flights: Flights<Key, Stamped<Value>>? {
    lazyFlights.object.map { unsafeDowncast($0, to: Flights<Key, Stamped<Value>>.self) }
  }

  @inlinable
  func makeFlights() -> Flights<Key, Stamped<Value>> {
    flights ?? makeFirstFlights()
  }

  @usableFromInline
  func makeFirstFlights() -> Flights<Key, Stamped<Value>> {
    let flights = Flights<Key, Stamped<Value>>(makeFlightClock(), limit: 10_000)
    return unsafeDowncast(lazyFlights.storeIfNil(flights), to: Flights<Key, Stamped<Value>>.self)
  }

  /// Whether a get joins an entry of the key.
  @inlinable
  func hasFlight(of key: Key, _ lookup: Lookup) -> Bool {
    guard let flights else { return false }
    switch lookup.freshness {
    case .any, .atMost: return flights.has(key)
    case .cachedOnly, .reload: return false
    }
  }

  /// Joins the entry of the key, or starts one with `make`; completes empty if there is neither.
  @inlinable
  func joinFlight(
    _ key: Key, _ lookup: Lookup, orStart make: (@Sendable () -> Signal<Stamped<Value>>)? = nil
  ) -> Signal<Stamped<Value>> {
    let (flights, lookup) = (makeFlights(), lookup.asking(about: nil).with(.any))
    return Signal { observer, lifetime in
      // Before the entry is looked up, so that every later write wins over its value.
      let token = FillToken()
      let caller = make == nil ? flights.enterPresent(key, lookup) : flights.enter(key, lookup)
      // A caller that starts nothing must not open an entry that others would join.
      if caller == nil, make == nil {
        if let stamped = self.peekStamped(key) { observer.next(stamped) }
        return observer.completed()
      }
      flights.wait(as: caller, key, lookup, observer, lifetime) { _ in
        if let assigned = caller?.flight.assigned, self.isLatest(assigned, of: key) {
          return self.storing(assigned.signal, for: key, token)
        }
        // Another entry may have ended meanwhile.
        if let stamped = self.peekStamped(key) { return .just(stamped) }
        return make.map { self.storing($0(), for: key, token) } ?? .empty
      }
    }
  }

  /// Whether no later write of the key has arrived.
  ///
  /// A later write removes the entry only after it has changed the store and reported removals, so
  /// an observer of those, or another thread, may still find the entry. The token of its run would
  /// then be newer than the write.
  @usableFromInline
  func isLatest(_ assigned: AssignedSignal<Stamped<Value>>, of key: Key) -> Bool {
    guard removalsByPredicate.compare(key, assigned.revision) != nil else { return false }
    let hash = MemoryHash(key)
    return shards.withStore(hash) { store in
      let slot = store.find(key, hash)
      let present = slot.map { store.times.stamps[$0].revision } ?? Revision.none
      return assigned.revision >= max(present, store.writes.lastWrite(of: key))
    }
  }

  /// Runs a signal, and stores its last value when it completes, or when the last caller leaves: a
  /// caller that wants one value leaves with it.
  @inlinable
  func storing(
    _ signal: Signal<Stamped<Value>>, for key: Key, _ token: FillToken
  ) -> Signal<Stamped<Value>> {
    Signal { [self] observer, lifetime in
      let latest = UnstoredValue<Stamped<Value>>()
      let store = { @Sendable [self] in
        guard let (stamped, bornAt) = latest.close() else { return }
        let older = stamped.older(by: max(0, time.now() - bornAt))
        // Without the lifetime, which may have ended since the value came.
        _ = apply(.fill(key, older, FillToken(token.revision, false, nil)))
      }
      lifetime.onEnd { store() }
      signal.run(
        Observer(
          next: { stamped in
            latest.set(stamped, at: self.time.now())
            observer.next(stamped)
          },
          other: { event in
            switch event {
            case .completed: store()
            case .failed: _ = latest.close()
            case .progress, .next: break
            }
            observer.other(event)
          }), lifetime)
    }
  }

  /// Lets the entry of a key serve only its present subscribers, unless it was assigned after
  /// `revision`.
  @inlinable
  func detachFlight(of key: Key, upTo revision: Revision) {
    flights?.detach(key, upTo: revision)
  }
}

/// The latest value of a run and its time, until the run has ended.
@usableFromInline
@_fixed_layout
final class UnstoredValue<Value: Sendable>: Sendable {
  @usableFromInline typealias Sent = (value: Value, time: Int64)

  @usableFromInline let state = Locked<(sent: Sent?, isClosed: Bool)>((nil, false))

  @inlinable
  init() {}

  @inlinable
  func set(_ value: Value, at time: Int64) {
    state.discard { state -> Sent? in
      if state.isClosed { return nil }
      defer { state.sent = (value, time) }
      return state.sent
    }
  }

  /// Returns the latest value once; later ones are ignored.
  @inlinable
  func close() -> (value: Value, time: Int64)? {
    state.withLock { state in
      defer { state = (nil, true) }
      return state.sent
    }
  }
}
