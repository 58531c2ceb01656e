public import MillpondSignals

/// The running gets of a source, by key: a dictionary of replayed signals.
///
/// `FlightTable` decides, in one step under the lock of the room that it is in; this acts.
@usableFromInline
final class Flights<Rooms: FlightRooms>: Sendable {
  @usableFromInline typealias Key = Rooms.Key
  @usableFromInline typealias Value = Rooms.Value

  @usableFromInline let rooms: Rooms
  @usableFromInline let timeline: Timeline

  @inlinable
  init(in rooms: Rooms, _ timeline: Timeline) {
    self.rooms = rooms
    self.timeline = timeline
  }

  /// A signal that joins the flight of `key`, or starts one with `start`.
  ///
  /// - Parameter store: Counts a get that joins: no layer below is asked for it.
  @inlinable
  func join<Store: Source>(
    _ key: Key, _ lookup: Lookup, over store: Store,
    start: @escaping @Sendable (Lookup) -> Signal<Stamped<Value>>
  ) -> Signal<Stamped<Value>> where Store.Key == Key {
    Signal { observer, lifetime in
      let entrance = self.enter(key, lookup, start)
      if !entrance.isNew { _ = store.now(key, lookup.counting(.everything)) }
      self.board(entrance, key, lookup, observer, lifetime)
    }
  }

  /// A signal that joins the flight of `key`, or starts one with `start`; it counts nowhere.
  @inlinable
  func join(
    _ key: Key, _ lookup: Lookup,
    start: @escaping @Sendable (Lookup) -> Signal<Stamped<Value>>
  ) -> Signal<Stamped<Value>> {
    Signal { observer, lifetime in
      let entrance = self.enter(key, lookup, start)
      self.board(entrance, key, lookup, observer, lifetime)
    }
  }

  /// Joins the flight of `key`, or makes one, of which the next step is to board it.
  @inlinable
  func enter(
    _ key: Key, _ lookup: Lookup, _ start: @escaping @Sendable (Lookup) -> Signal<Stamped<Value>>
  ) -> Entrance<Value> {
    rooms.withFlights(of: key) { enter(&$0, key, lookup, start) }
  }

  /// Joins the flight of `key`, or makes one, of which the next step is to board it.
  ///
  /// Under the lock. Never calls out.
  @inlinable
  func enter(
    _ flights: inout FlightTable<Key, Value>, _ key: Key, _ lookup: Lookup,
    _ start: @escaping @Sendable (Lookup) -> Signal<Stamped<Value>>
  ) -> Entrance<Value> {
    let priority = lookup.priority
    return flights.enter(key, lookup.freshness, priority) { number in
      let handle = self.handle(of: key, lookup)
      let shared = Lookup.shared(lookup.freshness, handle)
      // The flight leaves the table before its terminal event is delivered.
      let run = Signal<Stamped<Value>> { observer, lifetime in
        // What is sent to many is sent in no context; those who have one see to it themselves.
        let outside = observer.inContext(of: nil)
        lifetime.markAwaited()
        WorkContext.run(in: .work(for: handle)) { start(shared).run(outside, lifetime) }
      }.onEnd { _ in
        handle.end()
        self.remove(key, number)
      }
      return Flight(number, lookup.freshness, handle, Replay(run, .keepRunning))
    }
  }

  @inlinable
  func handle(of key: Key, _ lookup: Lookup) -> FlightHandle {
    KeyedFlightHandle(
      key, in: ObjectIdentifier(self), lookup.priority, timeline, place: lookup.place)
  }

  /// Waits for the flight until `lifetime` ends; the first to board starts it.
  @inlinable
  func board(
    _ entrance: Entrance<Value>, _ key: Key, _ lookup: Lookup, _ observer: Observer<Stamped<Value>>,
    _ lifetime: Lifetime
  ) {
    if !isBoarded(entrance, key, lookup, observer, lifetime) {
      observer.failed(CacheError.circular(key: "\(key)"))
    }
  }

  /// Waits for the flight until `lifetime` ends; false, and nothing is sent, if that would be for ever.
  @inlinable
  func isBoarded(
    _ entrance: Entrance<Value>, _ key: Key, _ lookup: Lookup, _ observer: Observer<Stamped<Value>>,
    _ lifetime: Lifetime
  ) -> Bool {
    let flight = entrance.flight
    if entrance.isNew { flight.handle.begin() }
    let place = FlightPlace(self, key, flight, entrance.priority)
    if let outer = lookup.flight { place.follow(outer, lifetime) }
    if entrance.isRaised { flight.handle.announceRaise() }
    if lookup.isHeard { report(entrance, key, lookup) }
    guard let asker = WorkContext.current else {
      place.take(observer, lifetime)
      return true
    }
    guard asker.wait(for: flight.handle, until: lifetime) else {
      place.leave()
      return false
    }
    place.take(observer.inContext(of: asker), lifetime)
    return true
  }

  /// Runs `start` as a reload for one caller, that nobody joins; one that work of the same key asks for
  /// fails with ``CacheError/circular(key:)``.
  @inlinable
  func runAlone(
    _ key: Key, _ lookup: Lookup, _ start: @escaping @Sendable () -> Signal<Stamped<Value>>
  ) -> Signal<Stamped<Value>> {
    Signal { observer, lifetime in
      let asker = WorkContext.current
      let handle = self.handle(of: key, lookup)
      if self.isCircular(key, asker) || asker?.wait(for: handle, until: lifetime) == false {
        return observer.failed(CacheError.circular(key: "\(key)"))
      }
      let run = lifetime.child()
      run.markAwaited()
      run.onEnd { handle.end() }
      let outside = observer.inContext(of: asker)
      WorkContext.run(in: .work(for: handle)) {
        start().run(
          outside.replacingOther { event in
            if event.isTerminal { run.end() }
            outside.other(event)
          }, run)
      }
    }
  }

  /// Whether a reload of the key would wait for itself.
  @usableFromInline
  func isCircular(_ key: Key, _ asker: WorkContext?) -> Bool {
    asker?.works(for: key, in: ObjectIdentifier(self)) ?? false
  }

  /// Runs `work` as that of a reload, when none of the same key that began before runs any more.
  ///
  /// - Parameters:
  ///   - shared: The question of the reload's flight.
  ///   - work: Is told whether what it brings may be kept.
  @usableFromInline
  func reload(
    _ key: Key, _ shared: Lookup,
    _ work: @escaping @Sendable (_ isKept: Bool) -> Signal<Stamped<Value>>
  ) -> Signal<Stamped<Value>> {
    guard let handle = shared.flight else { return work(true) }
    return .asked { asker in
      switch self.rooms.withFlights(of: key, { $0.beginReload(key, handle) }) {
      case .begins: work(true)
      case .detached: work(false)
      case .joins(let entrance): Signal { self.board(entrance, key, shared, $0, $1) }
      case .waits(let entrance):
        Signal { observer, lifetime in
          // However that one ends, this one begins then.
          let end = Observer<Stamped<Value>>(next: { _ in }) { event in
            if event.isTerminal { observer.completed() } else { observer.other(event) }
          }
          if !self.isBoarded(entrance, key, shared, end, lifetime) {
            observer.failed(CacheError.circular(key: "\(key)"))
          }
        }.ifEmpty { self.reload(key, shared, work).inContext(of: asker) }
      }
    }
  }

  /// Lets go of the flights of a key: they serve those who wait, and nobody joins them any more.
  @inlinable
  func detach(_ key: Key) {
    let detached = rooms.withFlights(of: key) { $0.detach(key) }
    _ = detached  // released here, not under the lock
  }

  /// Lets go of all flights.
  @inlinable
  func detachAll() {
    var detached: [[Key: [Flight<Value>]]] = []
    rooms.forEachTable { detached.append($0.detachAll()) }
  }

  /// The flights that can be joined.
  @usableFromInline
  func census() -> [FlightRecord] {
    var all: [(Key, Flight<Value>, Int)] = []
    rooms.forEachTable { table in
      for (key, flights) in table.byKey { all += flights.map { (key, $0, $0.count) } }
    }
    return all.map { key, flight, count in flight.record(key, askers: count) }
  }

  /// The flight that an ask for whatever is there would join.
  func record(of key: Key) -> FlightRecord? {
    let found = rooms.withFlights(of: key) { $0.flight(of: key).map { ($0, $0.count) } }
    return found.map { flight, count in flight.record(key, askers: count) }
  }

  @inlinable
  func remove(_ key: Key, _ number: Int) {
    let removed = rooms.withFlights(of: key) { $0.remove(key, number) }
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
