extension Source {
  /// Stores values in `memory` and shares running gets: a dictionary of replayed signals.
  ///
  /// A get finds the value, joins the running get, or starts one; this is `memory.layered(over:
  /// self).reusingInFlight()`. A running get takes up no room and is never evicted.
  ///
  /// - Parameters:
  ///   - memory: The cache that stores the values, by its limits. It should serve no other source.
  ///   - maxFlights: The greatest number of keys that are under way and shared; a get of a further
  ///     key runs for its caller alone. Zero or less shares nothing.
  ///   - clock: The clock that measures the age of flights.
  public func replayed(
    in memory: MemoryCache<Key, Value>, maxFlights: Int = 10_000,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> InFlightReuse<Layered<MemoryCache<Key, Value>, Self>> {
    memory.layered(over: self).reusingInFlight(maxFlights: maxFlights, clock: clock)
  }
}
