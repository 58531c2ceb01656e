public import MillpondSignals

/// One run of a source that all callers of its key share.
///
/// Sendable because what varies is touched only under the lock of the table.
@usableFromInline
final class Flight<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  @usableFromInline let key: Key
  @usableFromInline let flights: Flights<Key, Value>
  @usableFromInline let handle: FlightHandle
  @usableFromInline let run: ReplayedRun<Stamped<Value>>
  @usableFromInline let isReload: Bool

  /// Callers that ask for this may join.
  @exclusivity(unchecked) @usableFromInline var freshness: Freshness
  @exclusivity(unchecked) @usableFromInline var callers: (low: Int, normal: Int, high: Int)

  /// Another flight of the key, for another freshness.
  @exclusivity(unchecked) @usableFromInline var next: Flight?

  @inlinable
  init(_ key: Key, _ lookup: Lookup, _ flights: Flights<Key, Value>) {
    self.key = key
    self.flights = flights
    freshness = lookup.freshness
    isReload = lookup.freshness == .reload
    handle = flights.handle(of: key, lookup)
    // Initial values beside the properties would be calls.
    run = ReplayedRun()
    callers = (0, 0, 0)
    next = nil
  }

  @inlinable
  var isEmpty: Bool {
    callers == (0, 0, 0)
  }

  /// The number of callers that wait.
  var count: Int {
    callers.low + callers.normal + callers.high
  }

  /// Counts a caller in; true if the flight has become more urgent.
  @inlinable
  func enter(_ priority: Priority) -> Bool {
    count(1, priority)
  }

  /// Counts a caller out.
  @inlinable
  func leave(_ priority: Priority) {
    _ = count(-1, priority)
  }

  /// Keeps the priority of the flight the highest of its callers'; true if it has become higher.
  @inlinable
  func count(_ change: Int, _ priority: Priority) -> Bool {
    switch priority {
    case .low: callers.low += change
    case .normal: callers.normal += change
    case .high: callers.high += change
    }
    if isEmpty { return false }
    return handle.setPriority(callers.high > 0 ? .high : callers.normal > 0 ? .normal : .low)
  }

  // MARK: Running

  /// Runs the work, unless all callers have left already.
  @inlinable
  func start(_ work: () -> Signal<Stamped<Value>>) {
    if run.lifetime.isEnded { return }
    run.lifetime.markAwaited()
    WorkContext.run(inNew: handle) {
      work().run(
        Observer(next: { self.receive($0) }, other: { self.receiveOther($0) }), run.lifetime)
    }
  }

  /// Events for many are sent in no context; callers that have one see to it themselves.
  @inlinable
  func receive(_ value: Stamped<Value>) {
    WorkContext.run(in: nil) { run.next(value) }
  }

  /// The flight leaves the table before its end is delivered.
  @inlinable
  func receiveOther(_ event: Event<Never>) {
    if event.isTerminal {
      handle.end()
      flights.remove(self)
    }
    WorkContext.run(in: nil) { run.other(event) }
  }

  /// Cancels the run, which nobody waits for any more.
  @inlinable
  func cancel() {
    handle.end()
    run.lifetime.end()
  }

  /// The flight for those who look.
  func record(callers: Int) -> FlightRecord {
    FlightRecord(
      key: key, age: handle.age, askers: callers, priority: handle.priority,
      place: handle.place, id: ObjectIdentifier(handle))
  }
}

/// A caller of a flight.
///
/// Sendable because what varies is touched under the lock of the table, or before the caller waits.
@usableFromInline
final class FlightCaller<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  @usableFromInline let flight: Flight<Key, Value>

  /// Whether it is the first caller, so that the run starts now.
  @usableFromInline let isNew: Bool

  /// Whether the flight has become more urgent by it.
  @usableFromInline let isRaised: Bool

  @exclusivity(unchecked) @usableFromInline var priority: Priority

  /// Whether it has left, so that it makes nothing more urgent any more.
  @exclusivity(unchecked) @usableFromInline var isLeft: Bool

  /// Its number among the subscribers of the run.
  @exclusivity(unchecked) @usableFromInline var number: Int

  /// Counts a caller in.
  @inlinable
  init(_ flight: Flight<Key, Value>, _ priority: Priority, isNew: Bool) {
    self.flight = flight
    self.isNew = isNew
    self.priority = priority
    // Initial values beside the properties would be calls.
    isLeft = false
    number = 0
    let isRaised = flight.enter(priority)
    self.isRaised = isRaised && !isNew
  }

  /// Waits for the flight until `lifetime` ends.
  @inlinable
  func wait(_ observer: Observer<Stamped<Value>>, _ lifetime: Lifetime) {
    number = flight.run.join(observer, lifetime)
    lifetime.onEnd { self.leave() }
  }

  /// Leaves the flight; the last caller cancels it.
  @inlinable
  func leave() {
    // A flight that has ended is in no table any more.
    if flight.run.hasEnded { return }
    flight.run.leave(number)
    let isEmpty = flight.flights.table.withLock { $0.leave(self) }
    if isEmpty { flight.cancel() }
  }

  /// Raises this caller's priority with that of `outer`, the flight that it works for.
  @usableFromInline
  func follow(_ outer: FlightHandle, _ lifetime: Lifetime) {
    let listening = outer.onRaise { self.raise(to: outer.priority) }
    lifetime.onEnd { listening.dispose() }
    // It may have been raised before that was heard.
    raise(to: outer.priority)
  }

  private func raise(to priority: Priority) {
    let isRaised = flight.flights.table.withLock { _ in
      guard !isLeft, priority > self.priority else { return false }
      let isRaised = flight.enter(priority)
      flight.leave(self.priority)
      self.priority = priority
      return isRaised
    }
    if isRaised { flight.handle.announceRaise() }
  }
}
