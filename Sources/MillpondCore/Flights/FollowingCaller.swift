public import MillpondSignals

/// A caller that works for another flight, and whose priority rises with that flight's.
///
/// Sendable because the mutable state is touched only under the lock of the table.
@usableFromInline
final class FollowingCaller<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  private let flight: Flight<Key, Value>
  private var priority: Priority
  private var hasLeft = false

  /// Follows `outer` until `lifetime` ends.
  @usableFromInline
  init(_ caller: FlightCaller<Key, Value>, _ outer: FlightHandle, _ lifetime: Lifetime) {
    flight = caller.flight
    priority = caller.priority
    let listening = outer.onRaise { self.raise(to: outer.priority) }
    lifetime.onEnd { listening.dispose() }
    // The priority may have risen before the observation began.
    raise(to: outer.priority)
  }

  /// Leaves the flight when `lifetime` ends.
  @usableFromInline
  func leave(_ number: Int, atEndOf lifetime: Lifetime) {
    lifetime.onEnd { self.flight.leave(number, self.priorityOfLeaver()) }
  }

  private func priorityOfLeaver() -> Priority {
    hasLeft = true
    return priority
  }

  private func raise(to priority: Priority) {
    let isRaised = flight.table.withLock { _ in
      guard !hasLeft, priority > self.priority else { return false }
      let isRaised = flight.countIn(priority)
      flight.countOut(self.priority)
      self.priority = priority
      return isRaised
    }
    if isRaised { flight.handle.announceRaise() }
  }
}
