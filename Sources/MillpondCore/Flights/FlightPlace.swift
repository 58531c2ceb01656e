public import MillpondSignals

/// The place of a caller in a flight.
///
/// Sendable because what varies is touched only under the lock of the table, but the seat, which is
/// taken before it can be left.
@usableFromInline
final class FlightPlace<Rooms: FlightRooms>: @unchecked Sendable {
  @usableFromInline let flights: Flights<Rooms>
  @usableFromInline let key: Rooms.Key
  @usableFromInline let flight: Flight<Rooms.Value>
  @exclusivity(unchecked) @usableFromInline var priority: Priority

  /// Whether the caller has left, so that it makes nothing more urgent any more.
  @exclusivity(unchecked) @usableFromInline var isLeft: Bool
  @exclusivity(unchecked) @usableFromInline var seat: ReplaySeat?

  @inlinable
  init(
    _ flights: Flights<Rooms>, _ key: Rooms.Key, _ flight: Flight<Rooms.Value>,
    _ priority: Priority
  ) {
    self.flights = flights
    self.key = key
    self.flight = flight
    self.priority = priority
    isLeft = false
    seat = nil
  }

  /// Receives what the flight sends, until `lifetime` ends.
  @inlinable
  func take(_ observer: Observer<Stamped<Rooms.Value>>, _ lifetime: Lifetime) {
    flight.replay.subscribe(observer, lifetime) {
      seat = $0
      lifetime.onEnd { self.leave() }
    }
  }

  /// Leaves the flight; the last caller stops it.
  @inlinable
  func leave() {
    // A flight that has ended is in no table any more, and has let go of those who waited.
    if flight.handle.isOver { return }
    let (isEmpty, removed) = flights.rooms.withFlights(of: key) { table in
      isLeft = true
      return table.leave(key, flight, priority)
    }
    _ = removed  // released here, not under the lock
    if isEmpty {
      flight.handle.end()
      flight.replay.stop()
    }
    if let seat { flight.replay.leave(seat) }
  }

  /// Where the caller is itself a flight: as that becomes more urgent, so does what it waits for.
  @usableFromInline
  func follow(_ outer: FlightHandle, _ lifetime: Lifetime) {
    let listening = outer.onRaise { self.raise(to: outer.priority) }
    lifetime.onEnd { listening.dispose() }
    // It may have been raised before that was heard.
    raise(to: outer.priority)
  }

  private func raise(to priority: Priority) {
    let isRaised = flights.rooms.withFlights(of: key) { _ in
      guard !isLeft, priority > self.priority else { return false }
      let isRaised = flight.enter(priority)
      flight.leave(self.priority)
      self.priority = priority
      return isRaised
    }
    if isRaised { flight.handle.announceRaise() }
  }
}
