/// The flights that can be joined; of a key there may be several, for different freshness.
///
/// Pure; its owner locks. A flight that is taken out is released by the caller, after the unlock.
@usableFromInline
struct FlightTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Caller = FlightCaller<Key, Value>

  /// The first flight of each key; others are linked to it.
  @usableFromInline var byKey: [Key: Flight<Key, Value>] = [:]

  @inlinable
  init() {}

  /// Joins the flight, or the one that `make` makes; nil if there are as many keys as the limit allows.
  @inlinable
  mutating func enter(
    _ key: Key, _ lookup: Lookup, limit: Int, make: () -> Flight<Key, Value>
  ) -> Caller? {
    let priority = lookup.priority
    let first = byKey[key]
    var other = first
    while let flight = other {
      if flight.freshness == lookup.freshness { return Caller(flight, priority, isNew: false) }
      other = flight.next
    }
    if first == nil, byKey.count >= limit { return nil }
    let flight = make()
    if let first {
      flight.next = first.next
      first.next = flight
    } else {
      byKey[key] = flight
    }
    return Caller(flight, priority, isNew: true)
  }

  /// Whether nobody is left; then the flight can't be joined any more.
  @inlinable
  mutating func leave(_ caller: Caller) -> Bool {
    caller.isLeft = true
    caller.flight.leave(caller.priority)
    guard caller.flight.isEmpty else { return false }
    remove(caller.flight)
    return true
  }

  /// Takes a flight out, if it is here.
  @inlinable
  mutating func remove(_ flight: Flight<Key, Value>) {
    guard let place = byKey.index(forKey: flight.key) else { return }
    let first = byKey.values[place]
    if first !== flight {
      unlink(flight, after: first)
    } else if let next = flight.next {
      byKey.values[place] = next
    } else {
      byKey.remove(at: place)
    }
    flight.next = nil
  }

  @inlinable
  func unlink(_ flight: Flight<Key, Value>, after first: Flight<Key, Value>) {
    var before = first
    while let next = before.next {
      if next === flight { return before.next = flight.next }
      before = next
    }
  }

  /// The flights of a key.
  @usableFromInline
  func all(of key: Key) -> [Flight<Key, Value>] {
    Array(sequence(first: byKey[key]) { $0?.next }.prefix { $0 != nil }.compactMap { $0 })
  }

  /// The flight that a get of whatever is there would join.
  @usableFromInline
  func flight(of key: Key) -> Flight<Key, Value>? {
    all(of: key).first { $0.freshness == .any }
  }

  /// Lets nobody join the flights of the key any more; the caller releases them.
  @inlinable
  mutating func detach(_ key: Key) -> Flight<Key, Value>? {
    if byKey.isEmpty { return nil }
    return byKey.removeValue(forKey: key)
  }

  /// Lets nobody join any flight any more; the caller releases them.
  @inlinable
  mutating func detachAll() -> [Key: Flight<Key, Value>] {
    defer { byKey = [:] }
    return byKey
  }

  /// Lets a reload begin, which callers may join from now on; older flights serve those who wait.
  ///
  /// One at a time: if another has begun before, this one is to wait for it, and to try again. One that
  /// has been detached meanwhile joins a later one that has begun; else it begins, too, but what it brings
  /// must not be kept.
  @usableFromInline
  mutating func beginReload(_ key: Key, _ handle: FlightHandle) -> ReloadBeginning<Key, Value> {
    let flights = all(of: key)
    let usual = flights.filter { $0.freshness == .any }
    let begun = usual.first { $0.isReload }
    guard let reload = flights.first(where: { $0.handle === handle }) else {
      return begun.map { .joins(Caller($0, .low, isNew: false)) } ?? .detached
    }
    if let begun { return .waits(Caller(begun, .low, isNew: false)) }
    for older in usual { remove(older) }
    reload.freshness = .any
    return .begins(older: usual)
  }
}

/// The decision on a reload that is about to begin.
@usableFromInline
enum ReloadBeginning<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// It begins; older flights are released after the unlock.
  case begins(older: [Flight<Key, Value>])

  /// It waits for another that began before.
  case waits(FlightCaller<Key, Value>)

  /// It joins another that was asked for later.
  case joins(FlightCaller<Key, Value>)

  /// It begins for those who wait, but what was written since it was asked for wins over it.
  case detached
}
