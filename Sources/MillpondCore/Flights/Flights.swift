public import MillpondSignals

/// The running gets of a source, by key: a dictionary of replayed signals.
///
/// ``JoinableFlights`` decides, in one step under the lock; this class acts on it.
@usableFromInline
final class Flights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let table = Locked(JoinableFlights<Key, Value>())
  @usableFromInline let clock: FlightClock

  /// The runs for one caller alone, which no other joins.
  private let lone = Locked(Registry<LoneRun<Key>>())

  /// The greatest number of keys that can be under way and shared.
  @usableFromInline let limit: Int

  @usableFromInline
  init(_ clock: FlightClock, limit: Int = .max) {
    self.clock = clock
    self.limit = limit
  }

  /// Returns a signal that joins the flight of `key`, or starts one with `start`; a join is not
  /// counted in statistics.
  @inlinable
  func join(
    _ key: Key, _ lookup: Lookup,
    start: @escaping @Sendable (Lookup) -> Signal<Value>
  ) -> Signal<Value> {
    Signal { observer, lifetime in
      self.wait(as: self.enter(key, lookup), key, lookup, observer, lifetime, start: start)
    }
  }

  /// Adds a caller to the flight of `key`, or to a new one; the caller has to wait next.
  ///
  /// - Returns: The caller; nil if it runs alone, since the limit of keys is reached or the key does
  ///   not equal itself.
  @inlinable
  func enter(_ key: Key, _ lookup: Lookup) -> FlightCaller<Key, Value>? {
    while true {
      let caller = table.withLock { table in
        table.enter(key, lookup, limit: limit) { key in
          Flight(key, lookup, handle(of: key, lookup), in: self.table)
        }
      }
      guard let caller, !caller.isNew, caller.flight.handle.isOutdated else { return caller }
      leaveOutdated(caller)
    }
  }

  /// Leaves a flight whose answer another process has replaced, and lets no other get join it.
  @usableFromInline
  func leaveOutdated(_ caller: FlightCaller<Key, Value>) {
    table.withLock { $0.remove(caller.flight) }
    caller.flight.leave(0, caller.priority)
  }

  /// Adds a caller to a flight of `key` that there is already; the caller has to wait next.
  ///
  /// - Returns: The caller; nil if there is no such flight.
  @inlinable
  func enterPresent(_ key: Key, _ lookup: Lookup) -> FlightCaller<Key, Value>? {
    table.withLock { JoinableFlights.join($0.byKey[key], lookup) }
  }

  /// Adds a flight that the first caller of `key` starts, and detaches the former ones.
  ///
  /// If the limit of keys is reached, or another one was assigned later, the signal is not kept.
  @inlinable
  func assign(_ key: Key, _ signal: Signal<Value>, _ revision: Revision) {
    let assigned = AssignedSignal(signal, revision)
    let flight = Flight(key, Lookup(), handle(of: key, Lookup()), in: table, assigned: assigned)
    table.discard { $0.assign(flight, revision, limit: limit) }
  }

  /// Whether there is a flight of the key.
  @inlinable
  func has(_ key: Key) -> Bool {
    table.withLock { $0.byKey[key] != nil }
  }

  @inlinable
  func handle(of key: Key, _ lookup: Lookup) -> FlightHandle {
    KeyedFlightHandle(
      key, in: ObjectIdentifier(self), lookup.priority, clock, place: lookup.place)
  }

  /// Waits for the flight until `lifetime` ends; the first caller starts it.
  @inlinable
  func wait(
    as caller: FlightCaller<Key, Value>?, _ key: Key, _ lookup: Lookup,
    _ observer: Observer<Value>, _ lifetime: Lifetime,
    start: (Lookup) -> Signal<Value>
  ) {
    guard let caller else {
      return runAlone(key, lookup, observer, lifetime) { start(lookup) }
    }
    if !isWaiting(caller, lookup, observer, lifetime) {
      return observer.failed(CacheError.circular(key: String(withoutSecrets: key)))
    }
    guard caller.isNew else { return }
    caller.flight.start { start(lookup.shared(by: $0)) }
  }

  /// Waits for the flight until `lifetime` ends; false, without an event, if that would never end.
  @inlinable
  func isWaiting(
    _ caller: FlightCaller<Key, Value>, _ lookup: Lookup, _ observer: Observer<Value>,
    _ lifetime: Lifetime
  ) -> Bool {
    if caller.isNew { caller.flight.handle.begin() }
    if caller.isRaised { caller.flight.handle.announceRaise() }
    if lookup.hasListeners { report(caller, lookup, lifetime) }
    let following = lookup.flight.map { FollowingCaller(caller, $0, lifetime) }
    var (number, ends) = (0, true)
    if let context = WorkContext.current {
      ends = context.wait(for: caller.flight.handle, until: lifetime)
      if ends { number = caller.flight.run.join(observer.inContext(of: context), lifetime) }
    } else {
      number = caller.flight.run.join(observer, lifetime)
    }
    if let following {
      following.leave(number, atEndOf: lifetime)
    } else {
      caller.leave(number, atEndOf: lifetime)
    }
    return ends
  }

  /// Runs `start` for one caller, without sharing; fails with ``CacheError/circular(key:)`` if the
  /// caller works for the same key.
  @inlinable
  func runAlone(
    _ key: Key, _ lookup: Lookup, _ observer: Observer<Value>, _ lifetime: Lifetime,
    start: () -> Signal<Value>
  ) {
    let caller = WorkContext.current
    let handle = handle(of: key, lookup)
    if isCircular(key, caller) || caller?.wait(for: handle, until: lifetime) == false {
      return observer.failed(CacheError.circular(key: String(withoutSecrets: key)))
    }
    let run = lifetime.child()
    run.markAwaited()
    run.onEnd { handle.end() }
    list(key, handle, until: run)
    WorkContext.run(in: handle) {
      start().run(observer.inContext(of: caller, ending: run), run)
    }
  }

  /// Lists a run for one caller among those that are under way.
  @usableFromInline
  func list(_ key: Key, _ handle: FlightHandle, until run: Lifetime) {
    handle.begin()
    let number = lone.withLock { $0.add(LoneRun(key: key, handle: handle)) }
    run.onEnd { [lone] in lone.discard { $0.remove(number) } }
  }

  /// Whether an unshared run of the key would wait for itself.
  @usableFromInline
  func isCircular(_ key: Key, _ caller: WorkContext?) -> Bool {
    caller?.works(for: key, in: ObjectIdentifier(self)) ?? false
  }

  /// Runs `work` as a reload, once no earlier reload of the key runs any more.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - shared: The lookup of the reload's flight.
  ///   - work: Receives whether its value may be stored.
  @usableFromInline
  func reload(
    _ key: Key, _ shared: Lookup,
    _ work: @escaping @Sendable (_ isKept: Bool) -> Signal<Value>
  ) -> Signal<Value> {
    guard let handle = shared.flight else { return work(true) }
    // Decided in the start, so that a caller that is counted in does wait.
    return Signal { observer, lifetime in
      switch self.table.withLock({ $0.beginReload(key, handle) }) {
      case .begins: work(true).run(observer, lifetime)
      case .detached: work(false).run(observer, lifetime)
      case .joins(let caller):
        self.wait(as: caller, key, shared, observer, lifetime) { _ in .never }
      case .waits(let caller):
        let (context, waiting) = (WorkContext.current, lifetime.child())
        // This reload begins at the end of that one, whether it succeeds or fails.
        let end = Observer<Value>(next: { _ in }) { event in
          guard event.isTerminal else { return observer.other(event) }
          waiting.end()
          if lifetime.isEnded { return }
          self.reload(key, shared, work).inContext(of: context).run(observer, lifetime)
        }
        if !self.isWaiting(caller, shared, end, waiting) {
          waiting.end()
          observer.failed(CacheError.circular(key: String(withoutSecrets: key)))
        }
      }
    }
  }

  /// Detaches the flights of a key: they serve their present callers, and no caller joins them any
  /// more.
  @inlinable
  func detach(_ key: Key) {
    table.discard { $0.detach(key) }
  }

  /// Detaches the flights of a key, unless its flight was assigned after `revision`.
  @inlinable
  func detach(_ key: Key, upTo revision: Revision) {
    table.discard { $0.detach(key, upTo: revision) }
  }

  /// Detaches the flights of keys that satisfy the predicate, except those whose flight was
  /// assigned after `revision`.
  @usableFromInline
  func detach(_ predicate: KeyPredicate<Key>, upTo revision: Revision) {
    for key in keys where predicate.isSatisfied(by: key) { detach(key, upTo: revision) }
  }

  /// The keys of all flights that can be joined.
  var keys: [Key] { table.withLock { Array($0.byKey.keys) } }

  /// Detaches all flights that were not assigned after `revision`.
  ///
  /// - Complexity: O(1); O(*n*) if a flight was assigned after it.
  @usableFromInline
  func detachAll(upTo revision: Revision) {
    let detached = table.withLock { $0.detachAll(upTo: revision) }
    withExtendedLifetime(detached) {
      if detached == nil { for key in keys { detach(key, upTo: revision) } }
    }
  }

  /// Detaches all flights.
  @inlinable
  func detachAll() {
    table.discard { $0.detachAll() }
  }

  /// Returns descriptions of the flights that can be joined, oldest first, and then of the runs for
  /// one caller alone.
  ///
  /// - Complexity: O(*n* log *n*), of which O(*n*) with the lock.
  @usableFromInline
  func records() -> [FlightRecord] {
    let all = table.withLock { $0.all.map { (number: $0.flight.number, $0.flight, $0.callers) } }
    let records = all.sorted { $0.number < $1.number }.map { $1.record(callers: $2) }
    return records + lone.withLock { $0.numbered }.map(\.element.record)
  }

  /// Returns a description of the flight that a get with ``Freshness/any`` would join.
  func record(of key: Key) -> FlightRecord? {
    let found = table.withLock { table in table.flight(of: key).map { ($0, $0.count) } }
    return found.map { flight, count in flight.record(callers: count) }
  }

  @usableFromInline
  func report(_ caller: FlightCaller<Key, Value>, _ lookup: Lookup, _ lifetime: Lifetime) {
    let handle = caller.flight.handle
    handle.add(lookup, until: lifetime)
    let kind: CacheEvent.Kind = caller.isNew ? .started : .joined(age: handle.age)
    lookup.report(kind, layer: "in flight", key: caller.flight.key)
  }
}

/// A run for one caller alone: a reload, or a get of one key more than can be shared.
private struct LoneRun<Key: Hashable & Sendable>: Sendable {
  let key: Key
  let handle: FlightHandle

  var record: FlightRecord {
    FlightRecord(
      key: key, age: handle.age, callers: 1, priority: handle.priority, place: handle.place,
      id: ObjectIdentifier(handle))
  }
}
