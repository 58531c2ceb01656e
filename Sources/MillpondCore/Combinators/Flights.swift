public import MillpondSignals

/// The running gets of a source, by key: a dictionary of replayed signals.
///
/// `FlightTable` decides, in one step under the lock; this acts.
@usableFromInline
final class Flights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let table = Locked(FlightTable<Key, Value>())

  @inlinable
  init() {}

  /// A signal that joins the flight of `key`, or starts one with `start`.
  @inlinable
  func join(
    _ key: Key, _ freshness: Freshness, _ priority: Priority,
    start: @escaping @Sendable (FlightPriority) -> Signal<Stamped<Value>>
  ) -> Signal<Stamped<Value>> {
    Signal { observer, lifetime in
      let flight = self.enter(key, freshness, priority, start)
      lifetime.onEnd { self.leave(key, flight, priority) }
      flight.replay.subscribe(observer, lifetime)
    }
  }

  /// Lets go of the flights of a key: they serve those who wait, and nobody joins them any more.
  @inlinable
  func detach(_ key: Key) {
    let detached = table.withLock { $0.detach(key) }
    _ = detached  // released here, not under the lock
  }

  /// Lets go of all flights.
  @inlinable
  func detachAll() {
    let detached = table.withLock { $0.detachAll() }
    _ = detached
  }

  @inlinable
  func enter(
    _ key: Key, _ freshness: Freshness, _ priority: Priority,
    _ start: @escaping @Sendable (FlightPriority) -> Signal<Stamped<Value>>
  ) -> Flight<Value> {
    table.withLock { table in
      table.enter(key, freshness, priority) { number in
        let shared = FlightPriority(priority)
        // The flight leaves the table before its terminal event is delivered.
        let run = Signal.deferred { start(shared) }.onEnd { _ in self.remove(key, number) }
        return Flight(number, freshness, shared, Replay(run, .keepRunning))
      }
    }
  }

  @inlinable
  func leave(_ key: Key, _ flight: Flight<Value>, _ priority: Priority) {
    let (isEmpty, removed) = table.withLock { $0.leave(key, flight, priority) }
    _ = removed
    if isEmpty { flight.replay.stop() }
  }

  @inlinable
  func remove(_ key: Key, _ number: Int) {
    let removed = table.withLock { $0.remove(key, number) }
    _ = removed
  }
}
