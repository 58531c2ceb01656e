public import MillpondSignals
import Synchronization

/// Where the flights of a key are to be found, under a lock with whatever else it holds.
@usableFromInline
protocol FlightRooms<Key, Value>: Sendable {
  associatedtype Key: Hashable & Sendable
  associatedtype Value: Sendable

  /// Runs `body` with the table of the key.
  func withFlights<Result>(
    of key: Key, _ body: (inout FlightTable<Key, Value>) -> Result
  ) -> Result

  /// Runs `body` with every table, one after the other.
  func forEachTable(_ body: (inout FlightTable<Key, Value>) -> Void)
}

/// One table of nothing else.
@usableFromInline
struct FlightRoom<Key: Hashable & Sendable, Value: Sendable>: FlightRooms {
  @usableFromInline let table = Locked(FlightTable<Key, Value>())

  @inlinable
  init() {}

  @inlinable
  func withFlights<Result>(
    of key: Key, _ body: (inout FlightTable<Key, Value>) -> Result
  ) -> Result {
    table.withLock(body)
  }

  @inlinable
  func forEachTable(_ body: (inout FlightTable<Key, Value>) -> Void) {
    table.withLock(body)
  }
}

/// Which flights can be joined.
///
/// Of one key there may be several, for different freshness.
@usableFromInline
struct FlightTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var byKey: [Key: [Flight<Value>]] = [:]
  @usableFromInline var lastNumber = 0

  /// Where keys under way are counted together with those of other tables; nil if there are none.
  @usableFromInline var total: FlightTotal?

  @inlinable
  init() {}

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
    let count = byKey.count
    byKey[key, default: []].append(flight)
    total?.add(byKey.count - count)
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
    if byKey.values[place].count == 1 {
      total?.add(-1)
      return byKey.remove(at: place)
    }
    let key = byKey.keys[place]
    return (key, [byKey.values[place].remove(at: index)])
  }

  /// Lets a reload begin, which those who ask from now on may join; older flights serve those who wait.
  ///
  /// One at a time: if another has begun before, this one is to wait for it, and to try again. One that
  /// has been let go of meanwhile joins a later one that has begun; else it begins, too, but what it brings
  /// must not be kept.
  @usableFromInline
  mutating func beginReload(_ key: Key, _ handle: FlightHandle) -> ReloadBeginning<Value> {
    guard let place = byKey.index(forKey: key) else { return .detached }
    guard let reload = byKey.values[place].first(where: { $0.handle === handle }) else {
      guard let later = byKey.values[place].first(where: { $0.freshness == .any && $0.isReload })
      else { return .detached }
      _ = later.enter(.low)
      return .joins(Entrance(flight: later, priority: .low, isNew: false, isRaised: false))
    }
    let usual = byKey.values[place].filter { $0.freshness == .any }
    if let before = usual.first(where: { $0.isReload }) {
      _ = before.enter(.low)
      return .waits(Entrance(flight: before, priority: .low, isNew: false, isRaised: false))
    }
    byKey.values[place].removeAll { $0.freshness == .any }
    reload.freshness = .any
    return .begins(older: usual)
  }

  /// Lets nobody join the flights of the key any more.
  @inlinable
  mutating func detach(_ key: Key) -> Removed? {
    if byKey.isEmpty { return nil }
    guard let place = byKey.index(forKey: key) else { return nil }
    total?.add(-1)
    return byKey.remove(at: place)
  }

  @inlinable
  mutating func detachAll() -> [Key: [Flight<Value>]] {
    defer { byKey = [:] }
    total?.add(-byKey.count)
    return byKey
  }

  /// The flight that an ask for whatever is there would join.
  func flight(of key: Key) -> Flight<Value>? {
    byKey[key]?.first { $0.freshness == .any }
  }

  /// The same table without flights.
  func emptied() -> FlightTable {
    var table = self
    table.byKey = [:]
    return table
  }

  /// Takes over the flights of a key from a table that is given up; those to come have later numbers.
  mutating func adopt(_ key: Key, _ flights: [Flight<Value>], after other: FlightTable) {
    byKey[key] = flights
    lastNumber = max(lastNumber, other.lastNumber)
  }

  /// What leaves the table is released after the unlock, the key included.
  @usableFromInline typealias Removed = (key: Key, value: [Flight<Value>])
}

/// How many keys are under way in several tables.
@usableFromInline
final class FlightTotal: Sendable {
  private let number = Atomic<Int>(0)

  @usableFromInline
  init() {}

  @usableFromInline var count: Int { number.load(ordering: .relaxed) }

  @usableFromInline
  func add(_ change: Int) {
    number.wrappingAdd(change, ordering: .relaxed)
  }
}

/// What a reload finds when it would begin.
@usableFromInline
enum ReloadBeginning<Value: Sendable>: Sendable {
  /// It begins; what is older is released after the unlock.
  case begins(older: [Flight<Value>])

  /// It waits for another that began before.
  case waits(Entrance<Value>)

  /// It joins another that was asked for later.
  case joins(Entrance<Value>)

  /// It begins for those who wait, but what was told since it was asked for wins over it.
  case detached
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

/// One run that several askers share.
///
/// Sendable because what varies is touched only under the lock of the table.
@usableFromInline
final class Flight<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let number: Int
  @usableFromInline let isReload: Bool
  @usableFromInline let replay: Replay<Stamped<Value>>
  @usableFromInline let handle: FlightHandle

  /// Who wants this may join.
  @exclusivity(unchecked) @usableFromInline var freshness: Freshness
  @exclusivity(unchecked) @usableFromInline var askers = (low: 0, normal: 0, high: 0)

  @inlinable
  init(
    _ number: Int, _ freshness: Freshness, _ handle: FlightHandle,
    _ replay: Replay<Stamped<Value>>
  ) {
    self.number = number
    self.freshness = freshness
    isReload = freshness == .reload
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
