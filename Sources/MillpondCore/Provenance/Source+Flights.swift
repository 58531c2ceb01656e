public import MillpondSignals

extension Source {
  /// The gets that are under way here and can be joined: what for, for how long, how many wait.
  ///
  /// - Complexity: O(*n*) in their number, in steps between which gets go on.
  public var flights: [FlightRecord] {
    layout(for: nil).allFlights
  }

  /// Tells of every flight that lasts longer than `limit`, once, as it is found.
  ///
  /// - Parameters:
  ///   - limit: How long a flight may last; zero or less is taken as a millisecond.
  ///   - clock: By which it is looked, four times within the limit. How long flights last is told by
  ///     the clock that they were given.
  /// - Returns: A signal that does not end by itself.
  public func flights(
    olderThan limit: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal<FlightRecord> {
    let limit = max(limit, .milliseconds(1))
    return Signal { observer, lifetime in
      let watchdog = FlightWatchdog(limit, Timeline(clock), observer, lifetime) {
        layout(for: nil).allFlights
      }
      watchdog.start()
    }
  }
}

extension Layout {
  /// The flights of all parts.
  var allFlights: [FlightRecord] {
    (flights?() ?? []) + parts.flatMap(\.allFlights)
  }
}

/// Looks now and then for flights that last too long.
private final class FlightWatchdog: Sendable {
  private let limit: Duration
  private let timeline: Timeline
  private let observer: Observer<FlightRecord>
  private let lifetime: Lifetime
  private let census: @Sendable () -> [FlightRecord]

  /// Touched by one round at a time.
  private let reported = Locked<Set<ObjectIdentifier>>([])

  init(
    _ limit: Duration, _ timeline: Timeline, _ observer: Observer<FlightRecord>,
    _ lifetime: Lifetime, _ census: @escaping @Sendable () -> [FlightRecord]
  ) {
    self.limit = limit
    self.timeline = timeline
    self.observer = observer
    self.lifetime = lifetime
    self.census = census
  }

  func start() {
    let timer = RunningTimer()
    lifetime.onEnd { timer.close() }
    wait(timer)
  }

  private func wait(_ timer: RunningTimer) {
    timer.fill(
      timeline.schedule(after: limit / 4) {
        self.look()
        if !self.lifetime.isEnded { self.wait(timer) }
      })
  }

  /// A flight is known by what it is while it lasts, so one that is gone, or young, is a new one.
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

/// The running timer; closed, it lets none run.
private final class RunningTimer: Sendable {
  private let state = Locked<(timer: Disposable?, isClosed: Bool)>((nil, false))

  func fill(_ timer: Disposable) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.timer = timer }
      return state.isClosed
    }
    if isClosed { timer.dispose() }
  }

  func close() {
    let timer = state.withLock { state in
      defer { state = (nil, true) }
      return state.timer
    }
    timer?.dispose()
  }
}
