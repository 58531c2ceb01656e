public import MillpondSignals

extension Source {
  /// The gets that are under way here, with their keys, ages and numbers of callers.
  ///
  /// These are the flights of each ``reusingInFlight(maxFlights:clock:)`` and of what contains one,
  /// and the gets that run there for one caller alone: reloads, and those beyond `maxFlights`.
  ///
  /// - Complexity: O(*n*) in their number, in steps between which gets can start and end.
  public var flights: [FlightRecord] {
    topology(for: nil).allFlights
  }

  /// Reports every flight that lasts longer than `limit`, once, when it is found.
  ///
  /// - Parameters:
  ///   - limit: The age from which a flight is reported; at least a millisecond.
  ///   - clock: The clock for the checks, of which there are four within the limit. The age of a
  ///     flight is measured by the flight's own clock.
  /// - Returns: A signal that does not end by itself.
  /// - Complexity: O(*n*) in the number of flights each time, in steps between which gets go on.
  public func flights(
    olderThan limit: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal<FlightRecord> {
    let limit = max(limit, .milliseconds(1))
    let scheduler = Scheduler(clock)
    return Signal { observer, lifetime in
      let reported = SerialState<Set<ObjectIdentifier>>([])
      // Not at a fixed rate, so that there is a pause also after a check that takes long.
      @Sendable func checkLater() {
        if lifetime.isEnded { return }
        scheduler.schedule(after: limit / 4, during: lifetime.child()) {
          let old = topology(for: nil).allFlights.filter { $0.age >= limit }
          let new = old.filter { !reported.value.contains($0.id) }
          // Forgets flights that have ended, since their identifiers may be used again.
          reported.value = Set(old.map(\.id))
          for record in new where !lifetime.isEnded { observer.next(record) }
          checkLater()
        }
      }
      checkLater()
    }
  }
}

extension Topology {
  /// The flights of all parts.
  package var allFlights: [FlightRecord] {
    allParts.flatMap { $0.flights?() ?? [] }
  }
}
