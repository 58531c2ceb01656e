public import MillpondSignals

/// A run of a source that all callers of its key share: a replayed run in a table.
@usableFromInline
struct Flight<Key: Hashable & Sendable, Value: Sendable>: Sendable, Equatable {
  @usableFromInline typealias Constants = FlightConstants<Key, Value>
  @usableFromInline typealias Variables = FlightVariables<Key, Value>
  @usableFromInline typealias Run = OwnedRun<Stamped<Value>, Constants, Variables>

  @usableFromInline let run: Run

  @inlinable
  init(_ run: Run) {
    self.run = run
  }

  @inlinable
  init(
    _ key: Key, _ lookup: Lookup, _ handle: consuming FlightHandle,
    in table: Locked<JoinableFlights<Key, Value>>, assigned: AssignedSignal<Value>? = nil
  ) {
    run = Run(Constants(key, lookup, handle, in: table, assigned), Variables(lookup.freshness))
  }

  @inlinable
  static func == (left: Flight, right: Flight) -> Bool {
    left.run === right.run
  }

  @inlinable var key: Key { run.constants.key }
  @inlinable var table: Locked<JoinableFlights<Key, Value>> { run.constants.table }
  @inlinable var handle: FlightHandle { run.constants.handle }
  @inlinable var isReload: Bool { run.constants.isReload }
  @inlinable var revalidation: Revalidation? { run.constants.revalidation }
  @inlinable var assigned: AssignedSignal<Value>? { run.constants.assigned }

  // MARK: Under the lock of the table

  @inlinable var freshness: Freshness { run.variables.freshness }
  @inlinable var next: Flight? { run.variables.next }

  /// Whether a get may join: it admits the same answers.
  @inlinable
  func suits(_ lookup: Lookup) -> Bool {
    guard freshness == lookup.freshness else { return false }
    guard let own = revalidation else { return lookup.revalidation == nil }
    return own.validator == lookup.revalidation?.validator
  }

  @inlinable
  var isEmpty: Bool {
    run.variables.callers == (0, 0, 0)
  }

  /// The number of waiting callers.
  var count: Int {
    let callers = run.variables.callers
    return callers.low + callers.normal + callers.high
  }

  /// Counts a caller in; returns whether the flight's priority rose.
  @inlinable
  func countIn(_ priority: Priority) -> Bool {
    count(1, priority)
  }

  /// Counts a caller out.
  @inlinable
  func countOut(_ priority: Priority) {
    _ = count(-1, priority)
  }

  /// Keeps the flight's priority at the highest of its callers'; returns whether it rose.
  @inlinable
  func count(_ change: Int, _ priority: Priority) -> Bool {
    run.variables.add(change, priority)
    if isEmpty { return false }
    let callers = run.variables.callers
    return handle.setPriority(callers.high > 0 ? .high : callers.normal > 0 ? .normal : .low)
  }

  // MARK: Running

  /// Runs the work, unless all callers have left already.
  @inlinable
  func start(_ work: (FlightHandle) -> Signal<Stamped<Value>>) {
    if run.lifetime.isEnded { return }
    WorkContext.run(inNew: run.constants.handle) {
      work(run.constants.handle).run(
        Observer(next: { self.receive($0) }, other: { self.receiveOther($0) }), run.lifetime)
    }
  }

  /// Sends a value without a context; callers that have one restore it themselves.
  @inlinable
  func receive(_ value: Stamped<Value>) {
    WorkContext.run(in: nil) { run.next(value) }
  }

  /// Removes the flight from the table before its end is delivered.
  @inlinable
  func receiveOther(_ event: Event<Never>) {
    if event.isTerminal {
      handle.end()
      table.withLock { $0.remove(self) }
    }
    WorkContext.run(in: nil) { run.other(event) }
  }

  /// Removes a caller whose number and priority are one number.
  @inlinable
  func leave(_ numberAndPriority: Int) {
    let priority = Priority(rawValue: UInt8(numberAndPriority & 3))
    leave(numberAndPriority >> 2, priority ?? .normal)
  }

  /// Removes a caller; the last one cancels the run.
  ///
  /// - Parameters:
  ///   - number: Its number among the subscribers of the run; zero if it is none of them.
  ///   - priority: Returns its priority; called under the lock of the table.
  @inlinable
  func leave(_ number: Int, _ priority: @autoclosure () -> Priority) {
    // A flight that has ended is in no table any more.
    if run.hasEnded { return }
    run.leave(number)
    let isEmpty = table.withLock { $0.leave(self, priority()) }
    if isEmpty {
      handle.end()
      run.lifetime.end()
    }
  }

  /// Returns a description of the flight.
  func record(callers: Int) -> FlightRecord {
    FlightRecord(
      key: key, age: handle.age, callers: callers, priority: handle.priority,
      place: handle.place, id: ObjectIdentifier(handle))
  }
}

/// What never changes of a flight.
@usableFromInline
struct FlightConstants<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let key: Key
  @usableFromInline let table: Locked<JoinableFlights<Key, Value>>
  @usableFromInline let handle: FlightHandle
  @usableFromInline let isReload: Bool

  /// The question about a stored value that all its callers ask, if they do.
  @usableFromInline let revalidation: Revalidation?

  /// The signal that the first caller starts, if one was assigned.
  @usableFromInline let assigned: AssignedSignal<Value>?

  @inlinable
  init(
    _ key: Key, _ lookup: Lookup, _ handle: consuming FlightHandle,
    in table: Locked<JoinableFlights<Key, Value>>, _ assigned: AssignedSignal<Value>?
  ) {
    self.key = key
    self.table = table
    self.handle = handle
    self.assigned = assigned
    isReload = lookup.freshness == .reload
    revalidation = lookup.revalidation
  }
}

/// What changes of a flight, under the lock of its table.
@usableFromInline
struct FlightVariables<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
  /// The freshness with which callers may join.
  @usableFromInline var freshness: Freshness
  @usableFromInline var callers: (low: Int, normal: Int, high: Int)

  // Written out, because `?` would mean default values, which would be calls.

  /// Another flight of the key, for other answers.
  @usableFromInline var next: Optional<Flight<Key, Value>>

  /// The neighbours in the list of all flights.
  @usableFromInline var older: Optional<FlightList<Key, Value>.Link>
  @usableFromInline var newer: Optional<FlightList<Key, Value>.Link>

  @inlinable
  init(_ freshness: Freshness) {
    self.freshness = freshness
    callers = (0, 0, 0)
    (next, older, newer) = (nil, nil, nil)
  }

  /// Changes the number of callers of a priority.
  @inlinable
  mutating func add(_ change: Int, _ priority: Priority) {
    switch priority {
    case .low: callers.low += change
    case .normal: callers.normal += change
    case .high: callers.high += change
    }
  }
}

/// A signal that was assigned to a key.
@usableFromInline
final class AssignedSignal<Value: Sendable>: Sendable {
  @usableFromInline let signal: Signal<Value>

  /// The position of the assignment in the order of all writes.
  @usableFromInline let revision: Revision

  @inlinable
  init(_ signal: Signal<Value>, _ revision: Revision) {
    self.signal = signal
    self.revision = revision
  }
}

/// A caller that has been counted in, and has to wait next.
@usableFromInline
struct FlightCaller<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let flight: Flight<Key, Value>
  @usableFromInline let priority: Priority

  /// Whether it is the first caller, so that the run starts now.
  @usableFromInline let isNew: Bool

  /// Whether it raised the flight's priority.
  @usableFromInline let isRaised: Bool

  /// Counts a caller in.
  @inlinable
  init(_ flight: Flight<Key, Value>, _ priority: Priority, isNew: Bool) {
    self.flight = flight
    self.priority = priority
    self.isNew = isNew
    let isRaised = flight.countIn(priority)
    self.isRaised = isRaised && !isNew
  }

  /// Counts the first caller of a new flight in, whose handle was created with this priority.
  @inlinable
  init(first flight: Flight<Key, Value>, _ priority: Priority) {
    self.flight = flight
    self.priority = priority
    (isNew, isRaised) = (true, false)
    flight.run.variables.add(1, priority)
  }

  /// Leaves the flight when `lifetime` ends.
  ///
  /// - Parameter number: Its number among the subscribers of the run; zero if it is none of them.
  @inlinable
  func leave(_ number: Int, atEndOf lifetime: Lifetime) {
    let flight = flight
    lifetime.onEnd(number << 2 | Int(priority.rawValue)) { flight.leave($0) }
  }
}
