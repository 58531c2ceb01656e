public import MillpondSignals

/// The flights that can be joined; a key may have several, for different freshness, and for
/// questions about different stored values.
///
/// Pure; its owner locks. The caller releases removed flights after the unlock.
@usableFromInline
@frozen
struct JoinableFlights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Caller = FlightCaller<Key, Value>

  /// The first flight of each key; its other flights are linked to it.
  @usableFromInline var byKey: [Key: Flight<Key, Value>] = [:]

  /// The number of flights so far.
  @usableFromInline var lastNumber = 0

  /// The latest assignment.
  @usableFromInline var lastAssignment = Revision.none

  @inlinable
  init() {}

  /// Joins the flight of a key, or the one that `make` makes; nil if the limit of keys is reached,
  /// or if the key does not equal itself.
  @inlinable
  mutating func enter(
    _ key: Key, _ lookup: Lookup, limit: Int, make: (Key) -> Flight<Key, Value>
  ) -> Caller? {
    let isFull = byKey.count >= limit
    let caller = Self.enter(&byKey[key], key, lookup, isFull: isFull, make: make)
    if let caller, caller.isNew { number(caller.flight) }
    return caller
  }

  /// Joins one of the flights of a key, of which `first` is the first, or adds one to them.
  @inlinable
  static func enter(
    _ first: inout Flight<Key, Value>?, _ key: Key, _ lookup: Lookup, isFull: Bool,
    make: (Key) -> Flight<Key, Value>
  ) -> Caller? {
    if let caller = join(first, lookup) { return caller }
    // A key that does not equal itself, such as a NaN, could never be joined or removed again.
    if first == nil, isFull || key != key { return nil }
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
    return Caller(first: flight, lookup.priority)
  }

  @inlinable
  mutating func number(_ flight: Flight<Key, Value>) {
    lastNumber += 1
    flight.run.variables.number = lastNumber
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

  /// Adds a flight without callers, unless the limit of keys is reached, a later one was assigned,
  /// or the key does not equal itself.
  ///
  /// - Returns: The former flights of its key, which are detached; the caller releases them.
  @inlinable
  mutating func assign(
    _ flight: Flight<Key, Value>, _ revision: Revision, limit: Int
  ) -> Flight<Key, Value>? {
    if isAssigned(flight.key, after: revision) { return nil }
    let former = detach(flight.key)
    if byKey.count < limit, flight.key == flight.key {
      byKey[flight.key] = flight
      number(flight)
      lastAssignment = max(lastAssignment, revision)
    }
    return former
  }

  /// Removes a caller of that priority from a flight; returns whether it was the last one, after
  /// which the flight can't be joined.
  @inlinable
  mutating func leave(_ flight: Flight<Key, Value>, _ priority: Priority) -> Bool {
    flight.count(-1, priority)
    guard flight.isEmpty else { return false }
    remove(flight)
    return true
  }

  /// Removes a flight, if it is in the table.
  @inlinable
  mutating func remove(_ flight: Flight<Key, Value>) {
    guard Self.remove(flight, from: &byKey[flight.key]) else { return }
    flight.run.variables.next = nil
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
    byKey.isEmpty ? nil : byKey.removeValue(forKey: key)
  }

  /// Detaches the flights of the key, unless its flight was assigned after `revision`.
  @inlinable
  mutating func detach(_ key: Key, upTo revision: Revision) -> Flight<Key, Value>? {
    isAssigned(key, after: revision) ? nil : detach(key)
  }

  /// Detaches all flights, unless one was assigned after `revision`; the caller releases them.
  mutating func detachAll(upTo revision: Revision) -> [Key: Flight<Key, Value>]? {
    lastAssignment > revision ? nil : detachAll()
  }

  @inlinable
  func isAssigned(_ key: Key, after revision: Revision) -> Bool {
    byKey[key]?.assigned.map { $0.revision > revision } ?? false
  }

  /// Detaches all flights; the caller releases them.
  @inlinable
  mutating func detachAll() -> [Key: Flight<Key, Value>] {
    exchange(&byKey, with: [:])
  }

  /// All flights with the numbers of their callers, in any order.
  var all: [(flight: Flight<Key, Value>, callers: Int)] {
    byKey.values.flatMap { sequence(first: $0, next: \.next).map { ($0, $0.count) } }
  }
}
