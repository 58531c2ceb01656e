public import MillpondSignals

/// A run of a source that all callers of its key share: a replayed run in a table.
@usableFromInline
@frozen
struct Flight<Key: Hashable & Sendable, Value: Sendable>: Sendable, Equatable {
  @usableFromInline typealias Constants = FlightConstants<Key, Value>
  @usableFromInline typealias Variables = FlightVariables<Key, Value>
  @usableFromInline typealias Run = OwnedRun<Value, Constants, Variables>

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
  @inlinable var known: Validator? { run.constants.known }
  @inlinable var assigned: AssignedSignal<Value>? { run.constants.assigned }

  // MARK: Under the lock of the table

  @inlinable var freshness: Freshness { run.variables.freshness }
  @inlinable var next: Flight? { run.variables.next }
  var number: Int { run.variables.number }

  /// Whether a get may join: it admits the same answers.
  @inlinable
  func suits(_ lookup: Lookup) -> Bool {
    freshness == lookup.freshness && known == lookup.known
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

  /// Counts a caller in or out, and keeps the flight's priority at the highest of its callers'.
  ///
  /// - Parameters:
  ///   - change: 1 for a caller that enters, -1 for one that leaves.
  ///   - priority: The priority of the caller.
  /// - Returns: Whether the flight's priority rose.
  @inlinable
  @discardableResult
  func count(_ change: Int, _ priority: Priority) -> Bool {
    run.variables.add(change, priority)
    if isEmpty { return false }
    let callers = run.variables.callers
    return handle.setPriority(callers.high > 0 ? .high : callers.normal > 0 ? .normal : .low)
  }
}

/// The properties of a flight that never change.
@usableFromInline
@frozen
struct FlightConstants<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let key: Key
  @usableFromInline let table: Locked<JoinableFlights<Key, Value>>
  @usableFromInline let handle: FlightHandle
  @usableFromInline let isReload: Bool

  /// The validator of the stored value about which all its callers ask, if they do.
  @usableFromInline let known: Validator?

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
    known = lookup.known
  }
}

/// The properties of a flight that change, under the lock of its table.
@usableFromInline
@frozen
struct FlightVariables<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
  /// The freshness with which callers may join.
  @usableFromInline var freshness: Freshness
  @usableFromInline var callers: (low: Int, normal: Int, high: Int)

  /// Its place in the order in which the flights of its table began.
  @usableFromInline var number = 0

  /// Another flight of the key, for other answers.
  @usableFromInline var next: Flight<Key, Value>?

  @inlinable
  init(_ freshness: Freshness) {
    self.freshness = freshness
    callers = (0, 0, 0)
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

/// A caller that has been counted in, and has to wait next.
@usableFromInline
@frozen
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
    let isRaised = flight.count(1, priority)
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
