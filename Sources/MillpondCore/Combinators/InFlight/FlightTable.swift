public import MillpondSignals

/// What flights can be found in, under one lock with whatever else it holds.
@usableFromInline
protocol FlightRoom<Key, Value>: Sendable {
  associatedtype Key: Hashable & Sendable
  associatedtype Value: Sendable

  var flights: FlightTable<Key, Value> { get set }
}

/// Which flights can be joined.
///
/// Of one key there may be several, for different freshness.
@usableFromInline
struct FlightTable<Key: Hashable & Sendable, Value: Sendable>: FlightRoom {
  @usableFromInline var byKey: [Key: [Flight<Value>]] = [:]
  @usableFromInline var lastNumber = 0

  @inlinable
  init() {}

  /// A room of nothing else.
  @inlinable
  var flights: FlightTable {
    get { self }
    _modify { yield &self }
  }

  /// Joins the flight, or starts the one that `make` makes.
  @inlinable
  mutating func enter(
    _ key: Key, _ freshness: Freshness, _ priority: Priority, make: (Int) -> Flight<Value>
  ) -> Entrance<Value> {
    if let flight = byKey[key]?.first(where: { $0.freshness == freshness }) {
      let isRaised = flight.enter(priority)
      return Entrance(flight: flight, priority: priority, isNew: false, isRaised: isRaised)
    }
    lastNumber += 1
    let flight = make(lastNumber)
    _ = flight.enter(priority)
    byKey[key, default: []].append(flight)
    return Entrance(flight: flight, priority: priority, isNew: true, isRaised: false)
  }

  /// Whether nobody is left; then the flight can't be joined any more.
  ///
  /// What is to be released comes with the answer.
  @inlinable
  mutating func leave(
    _ key: Key, _ flight: Flight<Value>, _ priority: Priority
  ) -> (isEmpty: Bool, removed: Removed?) {
    flight.leave(priority)
    return flight.isEmpty ? (true, remove(key, flight.number)) : (false, nil)
  }

  /// Takes a flight out; what is to be released is given back.
  @inlinable
  mutating func remove(_ key: Key, _ number: Int) -> Removed? {
    guard let place = byKey.index(forKey: key) else { return nil }
    guard let index = byKey.values[place].firstIndex(where: { $0.number == number }) else {
      return nil
    }
    if byKey.values[place].count == 1 { return byKey.remove(at: place) }
    let key = byKey.keys[place]
    return (key, [byKey.values[place].remove(at: index)])
  }

  /// Lets nobody join the flights of the key any more.
  @inlinable
  mutating func detach(_ key: Key) -> Removed? {
    if byKey.isEmpty { return nil }
    return byKey.index(forKey: key).map { byKey.remove(at: $0) }
  }

  @inlinable
  mutating func detachAll() -> [Key: [Flight<Value>]] {
    defer { byKey = [:] }
    return byKey
  }

  /// The flight that an ask for whatever is there would join.
  func flight(of key: Key) -> Flight<Value>? {
    byKey[key]?.first { $0.freshness == .any }
  }

  /// What leaves the table is released after the unlock, the key included.
  @usableFromInline typealias Removed = (key: Key, value: [Flight<Value>])
}

/// What an asker finds.
@usableFromInline
struct Entrance<Value: Sendable>: Sendable {
  @usableFromInline let flight: Flight<Value>

  /// With which the asker came, and will be counted out.
  @usableFromInline let priority: Priority

  /// Whether the asker is the first, so that the run starts now.
  @usableFromInline let isNew: Bool

  /// Whether the flight has become more urgent by this asker.
  @usableFromInline let isRaised: Bool

  @inlinable
  init(flight: Flight<Value>, priority: Priority, isNew: Bool, isRaised: Bool) {
    self.flight = flight
    self.priority = priority
    self.isNew = isNew
    self.isRaised = isRaised
  }
}

/// The place of an asker in a flight.
///
/// Sendable because the priority is touched only under the lock of the table.
@usableFromInline
final class FlightPlace<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  @usableFromInline let key: Key
  @usableFromInline let flight: Flight<Value>
  @usableFromInline var priority: Priority

  @inlinable
  init(_ key: Key, _ flight: Flight<Value>, _ priority: Priority) {
    self.key = key
    self.flight = flight
    self.priority = priority
  }

  /// True if the flight has become more urgent by it.
  func raise(to priority: Priority) -> Bool {
    guard priority > self.priority else { return false }
    let isRaised = flight.enter(priority)
    flight.leave(self.priority)
    self.priority = priority
    return isRaised
  }
}

/// One run that several askers share.
///
/// Sendable because the counts are touched only under the lock of the table.
@usableFromInline
final class Flight<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let number: Int
  @usableFromInline let freshness: Freshness
  @usableFromInline let replay: Replay<Stamped<Value>>
  @usableFromInline let handle: FlightHandle
  @usableFromInline var askers = (low: 0, normal: 0, high: 0)

  @inlinable
  init(
    _ number: Int, _ freshness: Freshness, _ handle: FlightHandle,
    _ replay: Replay<Stamped<Value>>
  ) {
    self.number = number
    self.freshness = freshness
    self.handle = handle
    self.replay = replay
  }

  @inlinable
  var isEmpty: Bool {
    askers == (0, 0, 0)
  }

  /// How many wait for it.
  var count: Int {
    askers.low + askers.normal + askers.high
  }

  /// True if the flight has become more urgent.
  @inlinable
  func enter(_ priority: Priority) -> Bool {
    count(1, priority)
  }

  @inlinable
  func leave(_ priority: Priority) {
    _ = count(-1, priority)
  }

  /// Keeps the priority of the flight the highest of those present; true if it has become higher.
  @inlinable
  func count(_ change: Int, _ priority: Priority) -> Bool {
    switch priority {
    case .low: askers.low += change
    case .normal: askers.normal += change
    case .high: askers.high += change
    }
    if isEmpty { return false }
    return handle.setPriority(askers.high > 0 ? .high : askers.normal > 0 ? .normal : .low)
  }

  /// What is known of the flight, for those who look.
  func record(_ key: any Hashable & Sendable, askers: Int) -> FlightRecord {
    FlightRecord(
      key: key, age: handle.age, askers: askers, priority: handle.priority,
      place: handle.place, id: ObjectIdentifier(handle))
  }
}
