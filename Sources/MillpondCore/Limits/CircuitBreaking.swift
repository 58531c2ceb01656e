import MillpondSignals

extension Source {
  /// Stops asking a failing origin for a while: a circuit breaker.
  ///
  ///     let api = people.timingOut(after: .seconds(5))
  ///       .circuitBreaking(afterFailures: 5, for: .seconds(30))
  ///       .retrying(.backoff(attempts: 3, from: .milliseconds(200), upTo: .seconds(5)))
  ///
  /// After `count` failures in a row the circuit is open: gets fail at once with
  /// ``CacheError/circuitOpen(layer:remaining:underlying:)``, which counts as a loss of connectivity, so that
  /// stale values may stand in. When `pause` is over one get is let through, and the others still
  /// fail. Its success closes the circuit; after its failure, or without an answer, the next
  /// attempt is made one pause later.
  ///
  /// The first value or the end of a get decides, and a miss is a success. Neither is a get whose
  /// caller leaves before, nor an error that does not count: after such an attempt the next get is
  /// let through. Errors of the framework that say nothing about the origin never count, such as
  /// ``CacheError/circular(key:)`` and ``CacheError/tooManyWaiting(key:layer:limit:)``, nor does a
  /// cancellation: `CancellationError`, `URLError.cancelled`. Answers of gets that began before the circuit last opened or closed do
  /// not count either. Immediate answers, writes and gets with ``Freshness/cachedOnly`` pass.
  ///
  /// Apply this over ``timingOut(after:awaiting:clock:)``, so that silence is a failure, and under
  /// ``retrying(_:clock:)``: every attempt counts, and none is made while the circuit is open,
  /// since the error names the pause. Copies share the circuit. ``openCircuits`` says whether it is
  /// open, a monitor of the gets reports ``CacheEvent/Kind/circuitOpened(for:)`` and
  /// ``CacheEvent/Kind/circuitClosed``, and ``CacheStatistics/refusals`` counts the gets that it
  /// refused.
  ///
  /// - Parameters:
  ///   - count: The number of failures in a row that open the circuit; at least one.
  ///   - pause: The time until an attempt is made; zero or less refuses none, and a hundred years
  ///     is the longest.
  ///   - counts: Whether an error is a failure of the origin; by default all are, also those that
  ///     say that there is no such value.
  ///   - clock: The clock that measures the pause. A step back of it counts as no time.
  public func circuitBreaking(
    afterFailures count: Int, for pause: Duration,
    counting counts: @escaping @Sendable (any Error) -> Bool = { _ in true },
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Governed<Self> {
    Governed(
      self, by: .breaker(CircuitBreaker(count, pause, counting: counts, Scheduler(clock))))
  }
}

extension Source {
  /// The sources behind a circuit that is open now (``circuitBreaking(afterFailures:for:counting:clock:)``),
  /// by their names, each with the time until the next attempt: zero if that is due or under way.
  ///
  ///     if let pause = users.openCircuits["api"] { show("Trouble. Next attempt in \(pause)") }
  public var openCircuits: [String: Duration] {
    Dictionary(topology(for: nil).openCircuits(under: nil), uniquingKeysWith: max)
  }
}

extension Topology {
  /// The open circuits, each under the closest name around it or, without one, its source's.
  fileprivate func openCircuits(under name: String?) -> [(String, Duration)] {
    let own = self.name ?? (role == .wrapper ? name : nil)
    let open = openFor?().map { [(own ?? label, $0)] } ?? []
    return open + parts.flatMap { $0.openCircuits(under: role == .wrapper ? own : nil) }
  }
}

extension BulkSource {
  /// Stops calling a failing origin for a while, as
  /// ``Source/circuitBreaking(afterFailures:for:counting:clock:)`` does.
  ///
  /// A call counts once, however many keys it is for. Over ``batching(window:max:clock:)`` each key
  /// of a failed call would count as a failure.
  ///
  /// - Parameters:
  ///   - count: The number of failed calls in a row that open the circuit; at least one.
  ///   - pause: The time until an attempt is made; zero or less refuses none, and a hundred years
  ///     is the longest.
  ///   - counts: Whether an error is a failure of the origin; by default all are.
  ///   - clock: The clock that measures the pause.
  public func circuitBreaking(
    afterFailures count: Int, for pause: Duration,
    counting counts: @escaping @Sendable (any Error) -> Bool = { _ in true },
    clock: some Clock<Duration> = ContinuousClock()
  ) -> BulkSource {
    let breaker = CircuitBreaker(count, pause, counting: counts, Scheduler(clock))
    return BulkSource { [get] keys in breaker.answer(of: { "batched" }, Lookup()) { get(keys) } }
  }
}
