public import MillpondSignals

extension Source {
  /// Shares one run among all gets of the same key that are under way together.
  ///
  /// A caller that leaves affects no other; the last one that leaves cancels the work. A failure or
  /// a miss is not remembered. A write wins: a get made after it does not join an older flight.
  /// Gets with different freshness do not share a flight, nor gets that ask about different stored
  /// values (``Lookup/known``). A reload never joins one, and a get with
  /// ``Freshness/cachedOnly`` starts nothing that others could join.
  ///
  /// If the work of a flight makes a get or reload of the flight's own key, directly or through
  /// others, that fails with ``CacheError/circular(key:)``, since it would wait for itself. The
  /// work is identified by its task and the tasks created in it, until the flight ends. Whether the
  /// flight waits for such a task is unknown, so a get of the key that it does not wait for fails
  /// as well. Make that get in a `Task.detached`, which works for no flight.
  ///
  /// - Parameters:
  ///   - maxFlights: The greatest number of keys that are under way and shared; a get of a further
  ///     key runs for its caller alone. Zero or less shares nothing.
  ///   - clock: The clock that measures the age of flights.
  /// - Complexity: O(1) to join.
  public func reusingInFlight(
    maxFlights: Int = .max, clock: some Clock<Duration> = ContinuousClock()
  ) -> InFlightReuse<Self> {
    InFlightReuse(base: self, maxFlights, clock)
  }
}

/// A source or cache whose simultaneous gets of one key share one run, a *flight*.
///
/// A class, so that a hit retains one object.
public final class InFlightReuse<Base: Source>: Wrapper, AnsweringSource {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let flights: Flights<Key, Answer<Value>>
  @usableFromInline var title: String { "reusing in flight" }

  init(base: Base, _ maxFlights: Int, _ clock: some Clock<Duration>) {
    self.base = base
    flights = Flights(FlightClock(clock), limit: maxFlights)
  }

  /// Joins the flight of the key, or starts one.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    switch lookup.freshness {
    case .any, .atMost:
      Signal { [self] observer, lifetime in
        let caller = flights.enter(key, lookup)
        // A caller that joins reaches no layer, but is counted in one.
        if let caller, !caller.isNew { _ = base.now(key, lookup.counting(.everything)) }
        flights.wait(as: caller, key, lookup, observer, lifetime) { base.answers(key, $0) }
      }
    case .cachedOnly: base.answers(key, lookup)
    case .reload:
      Signal { [self] observer, lifetime in
        flights.runAlone(key, lookup, observer, lifetime) { base.answers(key, lookup) }
      }
    }
  }

  /// Writes to the base, and detaches older flights.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    let outcome = base.apply(change)
    switch change {
    case .set(let key, _, _), .remove(let key, _): flights.detach(key)
    case .removeAll: flights.detachAll()
    case .removeMatching(let predicate, let revision): flights.detach(predicate, upTo: revision)
    case .fill: break
    }
    return outcome
  }

  /// Detaches all flights: they serve their present callers, and no caller joins them any more.
  package func detachAll() {
    flights.detachAll()
  }

  /// The base and the flights.
  public func topology(for key: Key?) -> Topology {
    Topology(
      .wrapper, title, parts: [base.topology(for: key)],
      flight: key.flatMap { flights.record(of: $0) }, flights: { [flights] in flights.records() })
  }
}

extension InFlightReuse: Cache where Base: Cache {}
