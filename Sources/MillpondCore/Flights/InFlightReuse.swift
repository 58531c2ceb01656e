public import MillpondSignals

extension Source {
  /// Shares one run among all who ask for the same key meanwhile.
  ///
  /// One of them leaving harms nobody; the last one leaving cancels the work. A failure or a miss is
  /// not remembered. What is told wins: who asks after that does not join an older flight. Asks that
  /// want different freshness don't share; a reload never joins, and an ask for what is cached only
  /// starts nothing that others could join.
  ///
  /// A get or reload by the work of a flight for the key of that flight, directly or through others,
  /// fails with ``CacheError/circular(key:)``: it would wait for itself. The work is known by its task
  /// and by the tasks that are made in it, until the flight ends. Whether the flight waits for such a
  /// task can't be known, so a get of the same key that it does not wait for fails as well. Make that
  /// get in a `Task.detached`, which works for no flight.
  ///
  /// - Parameters:
  ///   - maxFlights: How many keys may be under way and shared; a get of one more key runs for its
  ///     caller alone. Of zero or less, nothing is shared.
  ///   - clock: The clock that measures the age of flights.
  /// - Complexity: O(1) to join.
  @inlinable
  public func reusingInFlight(
    maxFlights: Int = .max, clock: some Clock<Duration> = ContinuousClock()
  ) -> InFlightReuse<Self> {
    InFlightReuse(base: self, maxFlights, clock)
  }

  /// The dictionary of replayed signals: values are kept in `memory`, and running gets are shared.
  ///
  /// A get finds the value, joins the running get, or starts one: it is
  /// `memory.layered(over: self).reusingInFlight()`. A running get weighs nothing and is never evicted.
  ///
  /// - Parameters:
  ///   - memory: The cache that keeps values, by its limits. It should serve no other source.
  ///   - maxFlights: How many keys may be under way and shared; a get of one more key runs for its
  ///     caller alone. Of zero or less, nothing is shared.
  ///   - clock: The clock that measures the age of flights.
  @inlinable
  public func replayed(
    in memory: MemoryCache<Key, Value>, maxFlights: Int = 10_000,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> InFlightReuse<Layered<MemoryCache<Key, Value>, Self>> {
    memory.layered(over: self).reusingInFlight(maxFlights: maxFlights, clock: clock)
  }
}

/// A source or cache whose simultaneous gets of one key share one run, a *flight*.
public struct InFlightReuse<Base: Source>: Wrapper, StampedSource {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let parts: InFlightParts<Base>
  @inlinable var base: Base { parts.base }
  @inlinable var flights: Flights<Key, Value> { parts.flights }
  @usableFromInline var title: String { "reusing in flight" }

  @inlinable
  init(base: Base, _ maxFlights: Int, _ clock: some Clock<Duration>) {
    parts = InFlightParts(base, Flights(FlightClock(clock), limit: maxFlights))
  }

  /// Joins the flight of the key, or starts one.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    switch lookup.freshness {
    case .any, .atMost:
      Signal { [parts] observer, lifetime in
        let caller = parts.flights.enter(key, lookup)
        // No layer is asked for a caller that joins, but one counts it.
        if let caller, !caller.isNew { _ = parts.base.now(key, lookup.counting(.everything)) }
        parts.flights.wait(as: caller, key, lookup, observer, lifetime) {
          parts.base.getStamped(key, $0)
        }
      }
    case .cachedOnly: base.getStamped(key, lookup)
    case .reload:
      Signal { [parts] observer, lifetime in
        parts.flights.runAlone(key, lookup, observer, lifetime) {
          parts.base.getStamped(key, lookup)
        }
      }
    }
  }

  /// Tells the base, and lets go of the flights that are older.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    switch change {
    case .set(let key, _, _), .remove(let key, _): flights.detach(key)
    case .removeAll: flights.detachAll()
    case .fill: break
    }
    return outcome
  }

  /// Lets go of all flights: they serve those who wait, and no caller joins them any more.
  package func detachAll() {
    flights.detachAll()
  }

  /// The base, and the flights.
  public func layout(for key: Key?) -> Layout {
    Layout(
      .wrapper, title, parts: [base.layout(for: key)],
      flight: key.flatMap { flights.record(of: $0) }, flights: { [flights] in flights.census() })
  }
}

extension InFlightReuse: Cache where Base: Cache {}

/// One object for a hit to carry along, whatever the base is made of.
@usableFromInline
final class InFlightParts<Base: Source>: Sendable {
  @usableFromInline let base: Base
  @usableFromInline let flights: Flights<Base.Key, Base.Value>

  @inlinable
  init(_ base: Base, _ flights: Flights<Base.Key, Base.Value>) {
    self.base = base
    self.flights = flights
  }
}
