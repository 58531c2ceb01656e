import MillpondSignals

extension JoinableFlights {
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
