public import MillpondSignals

/// The flights that can be joined; a key may have several, for different freshness, and for
/// questions about different stored values.
///
/// Pure; its owner locks. The caller releases removed flights after the unlock.
@usableFromInline
struct JoinableFlights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Caller = FlightCaller<Key, Value>

  /// The first flight of each key; its other flights are linked to it.
  @usableFromInline var byKey = DividedDictionary<Key, Flight<Key, Value>>()

  /// The same flights in the order in which they began.
  @usableFromInline var list = FlightList<Key, Value>()

  /// The latest assignment.
  @usableFromInline var lastAssignment = Revision.none

  @inlinable
  init() {}

  /// Joins the flight of a key, or the one that `make` makes; nil if the limit of keys is reached.
  @inlinable
  mutating func enter(
    _ key: Key, _ lookup: Lookup, limit: Int, make: (Key) -> Flight<Key, Value>
  ) -> Caller? {
    let isFull = byKey.count >= limit
    return Self.enter(&byKey[key], key, of: &list, lookup, isFull: isFull, make: make)
  }

  /// Joins one of the flights of a key, of which `first` is the first, or adds one to them.
  @inlinable
  static func enter(
    _ first: inout Flight<Key, Value>?, _ key: Key, of list: inout FlightList<Key, Value>,
    _ lookup: Lookup,
    isFull: Bool, make: (Key) -> Flight<Key, Value>
  ) -> Caller? {
    if let caller = join(first, lookup) { return caller }
    if first == nil, isFull { return nil }
    let flight: Flight<Key, Value>
    if let first {
      // All have the same key object, that of the dictionary, which is never the last to release it.
      flight = make(first.key)
      flight.run.variables.next = first.next
      first.run.variables.next = flight
    } else {
      flight = make(key)
      first = flight
    }
    list.append(.passUnretained(flight.run))
    return Caller(first: flight, lookup.priority)
  }

  /// Joins one of the flights of a key, of which `first` is the first; nil if none suits.
  @inlinable
  static func join(_ first: Flight<Key, Value>?, _ lookup: Lookup) -> Caller? {
    var other = first
    while let flight = other {
      if flight.suits(lookup) {
        // A flight without callers was assigned, and waits for its first one.
        return Caller(flight, lookup.priority, isNew: flight.isEmpty)
      }
      other = flight.next
    }
    return nil
  }

  /// Adds a flight without callers, unless the limit of keys is reached or a later one was
  /// assigned.
  ///
  /// - Returns: The former flights of its key, which are detached; the caller releases them.
  @inlinable
  mutating func assign(
    _ flight: Flight<Key, Value>, _ revision: Revision, limit: Int
  ) -> Flight<Key, Value>? {
    if isAssigned(flight.key, after: revision) { return nil }
    let former = detach(flight.key)
    if byKey.count < limit {
      byKey[flight.key] = flight
      list.append(.passUnretained(flight.run))
      lastAssignment = max(lastAssignment, revision)
    }
    return former
  }

  /// Removes a caller of that priority from a flight; returns whether it was the last one, after
  /// which the flight can't be joined.
  @inlinable
  mutating func leave(_ flight: Flight<Key, Value>, _ priority: Priority) -> Bool {
    flight.countOut(priority)
    guard flight.isEmpty else { return false }
    remove(flight)
    return true
  }

  /// Removes a flight, if it is in the table.
  @inlinable
  mutating func remove(_ flight: Flight<Key, Value>) {
    guard Self.remove(flight, from: &byKey[flight.key]) else { return }
    flight.run.variables.next = nil
    list.remove(flight.run)
  }

  /// Removes a flight from those of its key, of which `first` is the first; false if it is not one
  /// of them.
  @inlinable
  static func remove(
    _ flight: Flight<Key, Value>, from first: inout Flight<Key, Value>?
  ) -> Bool {
    if first != flight { return first.map { unlink(flight, after: $0) } ?? false }
    first = flight.next
    return true
  }

  /// Removes a flight that is not the first of its key, if it is in the table.
  @inlinable
  static func unlink(_ flight: Flight<Key, Value>, after first: Flight<Key, Value>) -> Bool {
    var before = first
    while let next = before.next {
      if next == flight {
        before.run.variables.next = flight.next
        return true
      }
      before = next
    }
    return false
  }

  /// Returns the flights of a key.
  @usableFromInline
  func all(of key: Key) -> [Flight<Key, Value>] {
    Array(sequence(first: byKey[key]) { $0?.next }.prefix { $0 != nil }.compactMap { $0 })
  }

  /// Returns the flight that a get with ``Freshness/any`` would join.
  @usableFromInline
  func flight(of key: Key) -> Flight<Key, Value>? {
    all(of: key).first { $0.freshness == .any }
  }

  /// Detaches the flights of the key, so that no caller joins them any more; the caller of this
  /// releases them.
  @inlinable
  mutating func detach(_ key: Key) -> Flight<Key, Value>? {
    if byKey.isEmpty { return nil }
    let first = exchange(&byKey[key], with: nil)
    var detached = first
    while let flight = detached {
      list.remove(flight.run)
      detached = flight.next
    }
    return first
  }

  /// Detaches the flights of the key, unless its flight was assigned after `revision`.
  @inlinable
  mutating func detach(_ key: Key, upTo revision: Revision) -> Flight<Key, Value>? {
    isAssigned(key, after: revision) ? nil : detach(key)
  }

  /// Detaches all flights, unless one was assigned after `revision`; the caller releases them.
  mutating func detachAll(
    upTo revision: Revision
  ) -> DividedDictionary<Key, Flight<Key, Value>>? {
    lastAssignment > revision ? nil : detachAll()
  }

  @inlinable
  func isAssigned(_ key: Key, after revision: Revision) -> Bool {
    byKey[key]?.assigned.map { $0.revision > revision } ?? false
  }

  /// Detaches all flights; the caller releases them.
  @inlinable
  mutating func detachAll() -> DividedDictionary<Key, Flight<Key, Value>> {
    list.removeAll()
    return exchange(&byKey, with: DividedDictionary())
  }

  /// Returns the flights of the next step of a census, with the number of their callers; nil at the
  /// end.
  mutating func step(
    of census: Int, atMost count: Int
  ) -> [(flight: Flight<Key, Value>, callers: Int)]? {
    var found: [(flight: Flight<Key, Value>, callers: Int)] = []
    while found.count < count, let flight = list.advance(census) {
      found.append((flight, flight.count))
    }
    return found.isEmpty ? nil : found
  }

  /// Begins a reload, which callers can join from now on; older flights serve only their present
  /// callers.
  ///
  /// There is one at a time: if another one has begun before, this one has to wait for it and try
  /// again. A reload that was detached meanwhile joins a later one that has begun; otherwise it
  /// begins too, but its value must not be stored.
  @usableFromInline
  mutating func beginReload(_ key: Key, _ handle: FlightHandle) -> ReloadStart<Key, Value> {
    let flights = all(of: key)
    let usual = flights.filter { $0.freshness == .any }
    let begun = usual.first { $0.isReload }
    guard let reload = flights.first(where: { $0.handle === handle }) else {
      return begun.map { .joins(Caller($0, .low, isNew: false)) } ?? .detached
    }
    if let begun { return .waits(Caller(begun, .low, isNew: false)) }
    for older in usual { remove(older) }
    reload.run.variables.freshness = .any
    return .begins(older: usual)
  }
}

/// The decision on a reload that is about to begin.
@usableFromInline
enum ReloadStart<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// It begins; older flights are released after the unlock.
  case begins(older: [Flight<Key, Value>])

  /// It waits for another reload that began before.
  case waits(FlightCaller<Key, Value>)

  /// It joins another reload that was requested later.
  case joins(FlightCaller<Key, Value>)

  /// It begins for its present callers, but writes since its request win over it.
  case detached
}
