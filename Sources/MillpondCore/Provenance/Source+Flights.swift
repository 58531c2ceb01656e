public import MillpondSignals

extension Source {
  /// The gets that are under way here and can be joined, with their keys, ages and numbers of
  /// callers.
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
    return Signal { observer, lifetime in
      let watchdog = FlightWatchdog(limit, Scheduler(clock), observer, lifetime) {
        topology(for: nil).allFlights
      }
      watchdog.start()
    }
  }
}

extension Topology {
  /// The flights of all parts.
  var allFlights: [FlightRecord] {
    (flights?() ?? []) + parts.flatMap(\.allFlights)
  }
}

/// A periodic check for flights that last too long.
private final class FlightWatchdog: Sendable {
  private let limit: Duration
  private let scheduler: Scheduler
  private let observer: Observer<FlightRecord>
  private let lifetime: Lifetime
  private let census: @Sendable () -> [FlightRecord]

  /// The reported flights; touched by one round at a time.
  private let reported = Locked<Set<ObjectIdentifier>>([])

  init(
    _ limit: Duration, _ scheduler: Scheduler, _ observer: Observer<FlightRecord>,
    _ lifetime: Lifetime, _ census: @escaping @Sendable () -> [FlightRecord]
  ) {
    self.limit = limit
    self.scheduler = scheduler
    self.observer = observer
    self.lifetime = lifetime
    self.census = census
  }

  func start() {
    let timer = TimerSlot()
    lifetime.onEnd { timer.close() }
    wait(timer)
  }

  private func wait(_ timer: TimerSlot) {
    timer.set(
      scheduler.schedule(after: limit / 4) {
        self.look()
        if !self.lifetime.isEnded { self.wait(timer) }
      })
  }

  /// Reports flights that have become too old; an identifier is unique only while its flight lasts.
  private func look() {
    let old = census().filter { $0.age >= limit }
    let new = reported.withLock { reported in
      let new = old.filter { !reported.contains($0.id) }
      reported = Set(old.map(\.id))
      return new
    }
    for record in new where !lifetime.isEnded { observer.next(record) }
  }
}
