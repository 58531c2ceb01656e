public import MillpondSignals

/// Which flights can be joined.
///
/// Of one key there may be several, for different freshness.
@usableFromInline
struct FlightTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var byKey: [Key: [Flight<Value>]] = [:]
  @usableFromInline var lastNumber = 0

  @inlinable
  init() {}

  /// Joins the flight, or starts the one that `make` makes.
  @inlinable
  mutating func enter(
    _ key: Key, _ freshness: Freshness, _ priority: Priority, make: (Int) -> Flight<Value>
  ) -> Flight<Value> {
    if let flight = byKey[key]?.first(where: { $0.freshness == freshness }) {
      flight.enter(priority)
      return flight
    }
    lastNumber += 1
    let flight = make(lastNumber)
    flight.enter(priority)
    byKey[key, default: []].append(flight)
    return flight
  }

  /// Whether nobody is left; then the flight can't be joined any more.
  @inlinable
  mutating func leave(_ key: Key, _ flight: Flight<Value>, _ priority: Priority) -> Bool {
    flight.leave(priority)
    guard flight.isEmpty else { return false }
    _ = remove(key, flight.number)  // the caller holds it, so it is not released here
    return true
  }

  @inlinable
  mutating func remove(_ key: Key, _ number: Int) -> Flight<Value>? {
    guard let place = byKey.index(forKey: key) else { return nil }
    guard let index = byKey.values[place].firstIndex(where: { $0.number == number }) else {
      return nil
    }
    let flight = byKey.values[place].remove(at: index)
    if byKey.values[place].isEmpty { byKey.remove(at: place) }
    return flight
  }

  @inlinable
  mutating func detach(_ key: Key) -> [Flight<Value>]? {
    byKey.isEmpty ? nil : byKey.removeValue(forKey: key)
  }

  @inlinable
  mutating func detachAll() -> [Key: [Flight<Value>]] {
    defer { byKey = [:] }
    return byKey
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
  @usableFromInline let shared: FlightPriority
  @usableFromInline var askers = (low: 0, normal: 0, high: 0)

  @inlinable
  init(
    _ number: Int, _ freshness: Freshness, _ shared: FlightPriority,
    _ replay: Replay<Stamped<Value>>
  ) {
    self.number = number
    self.freshness = freshness
    self.shared = shared
    self.replay = replay
  }

  @inlinable
  var isEmpty: Bool {
    askers == (0, 0, 0)
  }

  @inlinable
  func enter(_ priority: Priority) {
    count(1, priority)
  }

  @inlinable
  func leave(_ priority: Priority) {
    count(-1, priority)
  }

  /// Keeps the priority of the flight the highest of those present.
  @inlinable
  func count(_ change: Int, _ priority: Priority) {
    switch priority {
    case .low: askers.low += change
    case .normal: askers.normal += change
    case .high: askers.high += change
    }
    if !isEmpty { shared.current = askers.high > 0 ? .high : askers.normal > 0 ? .normal : .low }
  }
}
