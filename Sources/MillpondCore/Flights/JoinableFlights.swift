public import MillpondSignals

/// The flights that can be joined; a key may have several, for different freshness, and for
/// questions about different stored values.
///
/// Pure; its owner locks. The caller releases removed flights after the unlock.
@usableFromInline
struct JoinableFlights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Caller = FlightCaller<Key, Value>

  /// The first flight of each key; its other flights are linked to it.
  @usableFromInline var byKey = DividedDictionary<Key, Flight<Key, Value>>()

  /// The same flights in the order in which they began.
  @usableFromInline var list = FlightList()

  /// The latest assignment.
  @usableFromInline var lastAssignment = Revision.none

  @inlinable
  init() {}

  /// Joins the flight of a key, or the one that `make` makes; nil if the limit of keys is reached.
  @inlinable
  mutating func enter(
    _ key: Key, _ lookup: Lookup, limit: Int, make: (Key) -> Flight<Key, Value>
  ) -> Caller? {
    let isFull = byKey.count >= limit
    return Self.enter(&byKey[key], key, of: &list, lookup, isFull: isFull, make: make)
  }

  /// Joins one of the flights of a key, of which `first` is the first, or adds one to them.
  @inlinable
  static func enter(
    _ first: inout Flight<Key, Value>?, _ key: Key, of list: inout FlightList, _ lookup: Lookup,
    isFull: Bool, make: (Key) -> Flight<Key, Value>
  ) -> Caller? {
    if let caller = join(first, lookup) { return caller }
    if first == nil, isFull { return nil }
    let flight: Flight<Key, Value>
    if let first {
      // All have the same key object, that of the dictionary, which is never the last to release it.
      flight = make(first.key)
      flight.next = first.next
      first.next = flight
    } else {
      flight = make(key)
      first = flight
    }
    list.append(flight)
    return Caller(flight, lookup.priority, isNew: true)
  }

  /// Joins one of the flights of a key, of which `first` is the first; nil if none suits.
  @inlinable
  static func join(_ first: Flight<Key, Value>?, _ lookup: Lookup) -> Caller? {
    var other = first
    while let flight = other {
      if flight.suits(lookup) {
        // A flight without callers was assigned, and waits for its first one.
        return Caller(flight, lookup.priority, isNew: flight.isEmpty)
      }
      other = flight.next
    }
    return nil
  }

  /// Adds a flight without callers, unless the limit of keys is reached or a later one was
  /// assigned.
  ///
  /// - Returns: The former flights of its key, which are detached; the caller releases them.
  @inlinable
  mutating func assign(
    _ flight: Flight<Key, Value>, _ revision: Revision, limit: Int
  ) -> Flight<Key, Value>? {
    if isAssigned(flight.key, after: revision) { return nil }
    let former = detach(flight.key)
    if byKey.count < limit {
      byKey[flight.key] = flight
      list.append(flight)
      lastAssignment = max(lastAssignment, revision)
    }
    return former
  }

  /// Removes a caller of that priority from a flight; returns whether it was the last one, after
  /// which the flight can't be joined.
  @inlinable
  mutating func leave(_ flight: Flight<Key, Value>, _ priority: Priority) -> Bool {
    flight.countOut(priority)
    guard flight.isEmpty else { return false }
    remove(flight)
    return true
  }

  /// Removes a flight, if it is in the table.
  @inlinable
  mutating func remove(_ flight: Flight<Key, Value>) {
    guard Self.remove(flight, from: &byKey[flight.key]) else { return }
    flight.next = nil
    list.remove(flight)
  }

  /// Removes a flight from those of its key, of which `first` is the first; false if it is not one
  /// of them.
  @inlinable
  static func remove(
    _ flight: Flight<Key, Value>, from first: inout Flight<Key, Value>?
  ) -> Bool {
    if first !== flight { return first.map { unlink(flight, after: $0) } ?? false }
    first = flight.next
    return true
  }

  /// Removes a flight that is not the first of its key, if it is in the table.
  @inlinable
  static func unlink(_ flight: Flight<Key, Value>, after first: Flight<Key, Value>) -> Bool {
    var before = first
    while let next = before.next {
      if next === flight {
        before.next = flight.next
        return true
      }
      before = next
    }
    return false
  }

  /// Returns the flights of a key.
  @usableFromInline
  func all(of key: Key) -> [Flight<Key, Value>] {
    Array(sequence(first: byKey[key]) { $0?.next }.prefix { $0 != nil }.compactMap { $0 })
  }

  /// Returns the flight that a get with ``Freshness/any`` would join.
  @usableFromInline
  func flight(of key: Key) -> Flight<Key, Value>? {
    all(of: key).first { $0.freshness == .any }
  }

  /// Detaches the flights of the key, so that no caller joins them any more; the caller of this
  /// releases them.
  @inlinable
  mutating func detach(_ key: Key) -> Flight<Key, Value>? {
    if byKey.isEmpty { return nil }
    let first = exchange(&byKey[key], with: nil)
    var detached = first
    while let flight = detached {
      list.remove(flight)
      detached = flight.next
    }
    return first
  }

  /// Detaches the flights of the key, unless its flight was assigned after `revision`.
  @inlinable
  mutating func detach(_ key: Key, upTo revision: Revision) -> Flight<Key, Value>? {
    isAssigned(key, after: revision) ? nil : detach(key)
  }

  /// Detaches all flights, unless one was assigned after `revision`; the caller releases them.
  mutating func detachAll(
    upTo revision: Revision
  ) -> DividedDictionary<Key, Flight<Key, Value>>? {
    lastAssignment > revision ? nil : detachAll()
  }

  @inlinable
  func isAssigned(_ key: Key, after revision: Revision) -> Bool {
    byKey[key]?.assigned.map { $0.revision > revision } ?? false
  }

  /// Detaches all flights; the caller releases them.
  @inlinable
  mutating func detachAll() -> DividedDictionary<Key, Flight<Key, Value>> {
    list.removeAll()
    return exchange(&byKey, with: DividedDictionary())
  }

  /// Returns the flights of the next step of a census, with the number of their callers; nil at the
  /// end.
  mutating func step(
    of census: FlightCensus, atMost count: Int
  ) -> [(flight: Flight<Key, Value>, callers: Int)]? {
    guard list.begin(census) else { return nil }
    var found: [(flight: Flight<Key, Value>, callers: Int)] = []
    for _ in 0..<count {
      guard let place = list.advance(census) else { break }
      if place is FlightCensus { continue }
      let flight = unsafeDowncast(place, to: Flight<Key, Value>.self)
      found.append((flight, flight.count))
    }
    return found
  }

  /// Begins a reload, which callers can join from now on; older flights serve only their present
  /// callers.
  ///
  /// There is one at a time: if another one has begun before, this one has to wait for it and try
  /// again. A reload that was detached meanwhile joins a later one that has begun; otherwise it
  /// begins too, but its value must not be stored.
  @usableFromInline
  mutating func beginReload(_ key: Key, _ handle: FlightHandle) -> ReloadStart<Key, Value> {
    let flights = all(of: key)
    let usual = flights.filter { $0.freshness == .any }
    let begun = usual.first { $0.isReload }
    guard let reload = flights.first(where: { $0.handle === handle }) else {
      return begun.map { .joins(Caller($0, .low, isNew: false)) } ?? .detached
    }
    if let begun { return .waits(Caller(begun, .low, isNew: false)) }
    for older in usual { remove(older) }
    reload.freshness = .any
    return .begins(older: usual)
  }
}

/// The decision on a reload that is about to begin.
@usableFromInline
enum ReloadStart<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// It begins; older flights are released after the unlock.
  case begins(older: [Flight<Key, Value>])

  /// It waits for another reload that began before.
  case waits(FlightCaller<Key, Value>)

  /// It joins another reload that was requested later.
  case joins(FlightCaller<Key, Value>)

  /// It begins for its present callers, but writes since its request win over it.
  case detached
}

/// A run of a source that all callers of its key share.
///
/// Sendable because the mutable state is touched only under the lock of the table.
@usableFromInline
final class Flight<Key: Hashable & Sendable, Value: Sendable>: FlightPlace, @unchecked Sendable {
  @usableFromInline let key: Key
  @usableFromInline let table: Locked<JoinableFlights<Key, Value>>
  @usableFromInline let handle: FlightHandle
  @usableFromInline let run: ReplayedRun<Stamped<Value>>
  @usableFromInline let isReload: Bool

  /// The question about a stored value that all its callers ask, if they do.
  @usableFromInline let revalidation: Revalidation?

  /// The signal that the first caller starts, if one was assigned.
  @usableFromInline let assigned: AssignedSignal<Value>?

  /// The freshness with which callers may join.
  @exclusivity(unchecked) @usableFromInline var freshness: Freshness
  @exclusivity(unchecked) @usableFromInline var callers: (low: Int, normal: Int, high: Int)

  /// Another flight of the key, for other answers.
  @exclusivity(unchecked) @usableFromInline var next: Flight?

  @inlinable
  init(
    _ key: Key, _ lookup: Lookup, _ handle: FlightHandle,
    in table: Locked<JoinableFlights<Key, Value>>, assigned: AssignedSignal<Value>? = nil
  ) {
    self.key = key
    self.table = table
    self.assigned = assigned
    freshness = lookup.freshness
    isReload = lookup.freshness == .reload
    revalidation = lookup.revalidation
    self.handle = handle
    // Set here because default values at the properties would be calls.
    run = ReplayedRun()
    callers = (0, 0, 0)
    next = nil
  }

  /// Whether a get may join: it admits the same answers.
  @inlinable
  func suits(_ lookup: Lookup) -> Bool {
    guard freshness == lookup.freshness else { return false }
    guard let own = revalidation else { return lookup.revalidation == nil }
    return own.validator == lookup.revalidation?.validator
  }

  @inlinable
  var isEmpty: Bool {
    callers == (0, 0, 0)
  }

  /// The number of waiting callers.
  var count: Int {
    callers.low + callers.normal + callers.high
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

  /// Leaves the flight when `lifetime` ends.
  ///
  /// - Parameter number: Its number among the subscribers of the run; zero if it is none of them.
  @inlinable
  func leave(_ number: Int, atEndOf lifetime: Lifetime) {
    let flight = flight
    lifetime.onEnd(number << 2 | Int(priority.rawValue)) { flight.leave($0) }
  }
}
