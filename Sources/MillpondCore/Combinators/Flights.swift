public import MillpondSignals

/// The running gets of a source, by key: a dictionary of replayed signals.
///
/// `FlightTable` decides, in one step under the lock; this acts.
@usableFromInline
final class Flights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let table = Locked(FlightTable<Key, Value>())
  @usableFromInline let timeline: Timeline

  @inlinable
  init(_ timeline: Timeline) {
    self.timeline = timeline
  }

  /// A signal that joins the flight of `key`, or starts one with `start`.
  @inlinable
  func join(
    _ key: Key, _ lookup: Lookup,
    start: @escaping @Sendable (Lookup) -> Signal<Stamped<Value>>
  ) -> Signal<Stamped<Value>> {
    Signal { observer, lifetime in
      let priority = lookup.priority
      let entrance = self.enter(key, lookup, priority, start)
      let flight = entrance.flight
      lifetime.onEnd { self.leave(key, flight, priority) }
      if entrance.isRaised { flight.handle.announceRaise() }
      if lookup.isHeard { self.report(entrance, key, lookup) }
      let asker = WorkContext.current
      guard asker?.wait(for: flight.handle, until: lifetime) ?? true else {
        return observer.failed(CacheError.circular(key: "\(key)"))
      }
      flight.replay.subscribe(observer.inContext(of: asker), lifetime)
    }
  }

  /// Lets go of the flights of a key: they serve those who wait, and nobody joins them any more.
  @inlinable
  func detach(_ key: Key) {
    let detached = table.withLock { $0.detach(key) }
    _ = detached  // released here, not under the lock
  }

  /// Lets go of all flights.
  @inlinable
  func detachAll() {
    let detached = table.withLock { $0.detachAll() }
    _ = detached
  }

  /// The flights that can be joined.
  @usableFromInline
  func census() -> [FlightRecord] {
    let all = table.withLock { table in
      table.byKey.flatMap { key, flights in flights.map { (key, $0, $0.count) } }
    }
    return all.map { key, flight, count in flight.record(key, askers: count) }
  }

  /// The flight that an ask for whatever is there would join.
  func record(of key: Key) -> FlightRecord? {
    let found = table.withLock { table in table.flight(of: key).map { ($0, $0.count) } }
    return found.map { flight, count in flight.record(key, askers: count) }
  }

  @inlinable
  func enter(
    _ key: Key, _ lookup: Lookup, _ priority: Priority,
    _ start: @escaping @Sendable (Lookup) -> Signal<Stamped<Value>>
  ) -> Entrance<Value> {
    table.withLock { table in
      table.enter(key, lookup.freshness, priority) { number in
        let handle = FlightHandle(priority, self.timeline, place: lookup.place)
        let shared = Lookup.shared(lookup.freshness, handle)
        // The flight leaves the table before its terminal event is delivered.
        let run = Signal<Stamped<Value>> { observer, lifetime in
          WorkContext.run(in: .work(for: handle)) { start(shared).run(observer, lifetime) }
        }.onEnd { _ in self.remove(key, number) }
        return Flight(number, lookup.freshness, handle, Replay(run, .keepRunning))
      }
    }
  }

  @inlinable
  func leave(_ key: Key, _ flight: Flight<Value>, _ priority: Priority) {
    let (isEmpty, removed) = table.withLock { $0.leave(key, flight, priority) }
    _ = removed
    if isEmpty { flight.replay.stop() }
  }

  @inlinable
  func remove(_ key: Key, _ number: Int) {
    let removed = table.withLock { $0.remove(key, number) }
    _ = removed
  }

  @usableFromInline
  func report(_ entrance: Entrance<Value>, _ key: Key, _ lookup: Lookup) {
    let handle = entrance.flight.handle
    handle.add(listenersOf: lookup)
    let kind: CacheEvent.Kind = entrance.isNew ? .started : .joined(age: handle.age)
    lookup.report(kind, layer: "in flight", key: key)
  }
}
