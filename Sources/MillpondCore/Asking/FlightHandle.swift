public import MillpondSignals
import Synchronization

/// The state that the callers of a flight share: the highest of their priorities, those who listen, and
/// the flights that it waits for.
///
/// It is the context of the flight's work: a flight serves many, so what started it is not its concern.
/// All of it changes while the work goes on, and the work may look at any time.
@usableFromInline
package class FlightHandle: WorkContext, @unchecked Sendable {
  // Sendable because what the class and its only subclass hold is immutable, atomic or locked.
  private final let clock: FlightClock
  final let place: String?
  private final let startedAt = Atomic<Int>(.min)
  private final let over = Atomic<Bool>(false)
  private final let level: Atomic<UInt8>
  private final let hasListeners = Atomic<Bool>(false)
  private final let lazyState = LazyObject()

  /// Made when it is first needed: most flights are neither heard, raised nor waited for by others.
  private final var state: Locked<State> {
    lazyState.locked(State())
  }

  private struct State: Sendable {
    var listeners: [Listener] = []
    var raised: [Int: @Sendable () -> Void] = [:]
    var lastNumber = 0
    var waitsFor: [ObjectIdentifier: (flight: FlightHandle, times: Int)] = [:]
    var waiting: [ObjectIdentifier: WaitingContext] = [:]
    var wantedLimits: [ObjectIdentifier: Int] = [:]
  }

  /// A flight that has not begun.
  ///
  /// Calls nothing, so that it can be made under a lock.
  @usableFromInline
  package init(_ priority: Priority, _ clock: FlightClock, place: String? = nil) {
    level = Atomic(priority.rawValue)
    self.clock = clock
    self.place = place
  }

  /// Whether this is a flight of `key` in `table`; only some flights know.
  func isFlight(of key: some Hashable & Sendable, in table: ObjectIdentifier) -> Bool {
    false
  }

  override final var ownFlight: FlightHandle? { self }

  /// Whether anybody wants to hear what happens to the flight.
  @usableFromInline
  package final var isHeard: Bool {
    hasListeners.load(ordering: .acquiring)
  }

  final var timeline: Timeline { clock.timeline }
}

/// The time of flights.
@usableFromInline
package final class FlightClock: Sendable {
  let timeline: Timeline

  /// For the age of a flight, to be read whenever one begins.
  let time: CoarseTime

  @usableFromInline
  package init(_ clock: some Clock<Duration>) {
    timeline = Timeline(clock)
    time = CoarseTime(clock)
  }

  @usableFromInline
  init(_ timeline: Timeline) {
    self.timeline = timeline
    time = CoarseTime(timeline)
  }
}

/// The handle of a flight that knows its key.
@usableFromInline
final class KeyedFlightHandle<Key: Hashable & Sendable>: FlightHandle, @unchecked Sendable {
  @usableFromInline let key: Key
  @usableFromInline let table: ObjectIdentifier

  @inlinable
  init(
    _ key: Key, in table: ObjectIdentifier, _ priority: Priority, _ clock: FlightClock,
    place: String?
  ) {
    self.key = key
    self.table = table
    super.init(priority, clock, place: place)
  }

  override func isFlight(of other: some Hashable & Sendable, in table: ObjectIdentifier) -> Bool {
    table == self.table && (other as? Key) == key
  }
}

extension FlightHandle {
  /// Notes that the flight begins now.
  @usableFromInline
  package func begin() {
    startedAt.store(Int(clock.time.now()), ordering: .relaxed)
  }

  /// Notes that the flight has ended: nobody waits for its work any more.
  @usableFromInline
  package func end() {
    over.store(true, ordering: .relaxed)
  }

  /// Whether the flight has ended.
  @usableFromInline
  package var isOver: Bool {
    over.load(ordering: .relaxed)
  }

  /// For how long the flight has been under way; zero before it begins.
  @usableFromInline
  package var age: Duration {
    let startedAt = startedAt.load(ordering: .relaxed)
    return startedAt == .min ? .zero : .nanoseconds(Int(clock.time.now()) - startedAt)
  }
}

extension FlightHandle {
  /// The highest priority of those who wait.
  @usableFromInline
  package var priority: Priority {
    Priority(rawValue: level.load(ordering: .relaxed)) ?? .normal
  }

  /// Sets the priority; true if it has become higher, so that ``announceRaise()`` is due.
  @usableFromInline
  package func setPriority(_ priority: Priority) -> Bool {
    level.exchange(priority.rawValue, ordering: .relaxed) < priority.rawValue
  }

  /// Tells those who wait in a queue for the flight's sake.
  @usableFromInline
  package func announceRaise() {
    for action in state.withLock({ $0.raised.values.map { Action(run: $0) } }) { action.run() }
  }

  /// Runs `action` whenever the flight has become more urgent, until the handle is disposed of.
  func onRaise(_ action: @escaping @Sendable () -> Void) -> Disposable {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.raised[state.lastNumber] = action
      return state.lastNumber
    }
    return Disposable { [self] in
      let gone = state.withLock { $0.raised.removeValue(forKey: number) }
      _ = gone  // released here, not under the lock
    }
  }

  private struct Action {
    let run: @Sendable () -> Void
  }
}

extension FlightHandle {
  var listeners: [Listener] {
    isHeard ? state.withLock { $0.listeners } : []
  }

  /// Lets those who listen to a joiner hear the flight; one that hears it already hears no more.
  @usableFromInline
  package func add(listenersOf lookup: Lookup) {
    let new = lookup.details.listeners
    state.withLock { state in
      for listener in new where !state.listeners.contains(where: { $0 === listener }) {
        state.listeners.append(listener)
      }
    }
    hasListeners.store(true, ordering: .releasing)
  }
}

extension FlightHandle {
  /// Notes that this flight waits for `other`; false if that waits for this one, so that neither
  /// would ever end.
  ///
  /// Noted first and then looked for: of two that start to wait for each other at one time, at
  /// least one sees it.
  func waits(for other: FlightHandle) -> Bool {
    if other === self { return false }
    state.withLock { $0.waitsFor[ObjectIdentifier(other), default: (other, 0)].times += 1 }
    if !other.leads(to: self) { return true }
    waitsNoMore(for: other)
    return false
  }

  func waitsNoMore(for other: FlightHandle) {
    let gone = state.withLock { state -> FlightHandle? in
      let id = ObjectIdentifier(other)
      state.waitsFor[id]?.times -= 1
      return state.waitsFor[id]?.times == 0 ? state.waitsFor.removeValue(forKey: id)?.flight : nil
    }
    _ = gone  // released here, not under the lock
  }

  private func leads(to goal: FlightHandle) -> Bool {
    followedFlights.contains { $0 === goal }
  }

  /// This flight, those it waits for, and so on.
  private var followedFlights: [FlightHandle] {
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
    var all = [self]
    var next = 0
    while next < all.count {
      for flight in all[next].state.withLock({ $0.waitsFor.values.map(\.flight) })
      where seen.insert(ObjectIdentifier(flight)).inserted { all.append(flight) }
      next += 1
    }
    return all
  }
}

extension FlightHandle {
  /// Notes that the work of `context` waits for this flight.
  func add(_ context: WorkContext, _ isCertain: Bool) {
    state.withLock { state in
      state.waiting[ObjectIdentifier(context), default: WaitingContext(context: context)]
        .count(1, isCertain)
    }
  }

  func remove(_ context: WorkContext, _ isCertain: Bool) {
    let gone = state.withLock { state -> WaitingContext? in
      let id = ObjectIdentifier(context)
      state.waiting[id]?.count(-1, isCertain)
      return state.waiting[id]?.isOver ?? false ? state.waiting.removeValue(forKey: id) : nil
    }
    _ = gone  // released here, not under the lock
  }

  /// The work that waits for this flight, and whether that is certain.
  var waitingContexts: [(context: WorkContext, isCertain: Bool)] {
    state.withLock { $0.waiting.values.map { ($0.context, $0.certain > 0) } }
  }

  /// Notes that the flight's work wants a slot of a limit, or has one.
  func wants(_ limit: ObjectIdentifier) {
    state.withLock { $0.wantedLimits[limit, default: 0] += 1 }
  }

  func wantsNoMore(_ limit: ObjectIdentifier) {
    state.withLock { state in
      state.wantedLimits[limit, default: 0] -= 1
      if state.wantedLimits[limit] == 0 { state.wantedLimits[limit] = nil }
    }
  }

  /// The limits of which this flight, and those it waits for, want slots.
  var wantedLimits: Set<ObjectIdentifier> {
    followedFlights.reduce(into: []) { limits, flight in
      limits.formUnion(flight.state.withLock { Array($0.wantedLimits.keys) })
    }
  }

  private struct WaitingContext: Sendable {
    let context: WorkContext
    var certain = 0
    var doubtful = 0

    var isOver: Bool { certain == 0 && doubtful == 0 }

    mutating func count(_ change: Int, _ isCertain: Bool) {
      if isCertain { certain += change } else { doubtful += change }
    }
  }
}
