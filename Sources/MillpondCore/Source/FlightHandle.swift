public import MillpondSignals
import Synchronization

/// The state that the callers of a flight share: the highest of their priorities, and those who listen.
///
/// It is the context of the flight's work: a flight serves many, so what started it is not its concern.
/// All of it changes while the work goes on, and the work may look at any time.
@usableFromInline
package class FlightHandle: WorkContext, @unchecked Sendable {
  // Sendable because what the class and its only subclass hold is immutable, atomic or locked.
  private final let clock: FlightClock
  final let place: String?
  private final let startedAt = Atomic<Int>(.min)
  private final let level: Atomic<UInt8>
  private final let hasListeners = Atomic<Bool>(false)
  private final let lazyState = LazyObject()

  /// Made when it is first needed: most flights are neither heard nor raised.
  private final var state: Locked<State> {
    lazyState.locked(State())
  }

  private struct State: Sendable {
    var listeners: [Listener] = []
    var raised = Registry<@Sendable () -> Void>()
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

  override final var flight: WorkContext? { self }

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
    for action in state.withLock({ $0.raised.elements }) { action() }
  }

  /// Runs `action` whenever the flight has become more urgent, until the handle is disposed of.
  func onRaise(_ action: @escaping @Sendable () -> Void) -> Disposable {
    state.keep(action, in: \.raised)
  }
}

extension FlightHandle {
  var listeners: [Listener] {
    isHeard ? state.withLock { $0.listeners } : []
  }

  /// Lets the listeners of a joiner hear the flight; one that hears it already hears no more.
  @usableFromInline
  package func add(_ new: [Listener]) {
    state.withLock { state in
      for listener in new where !state.listeners.contains(where: { $0 === listener }) {
        state.listeners.append(listener)
      }
    }
    hasListeners.store(true, ordering: .releasing)
  }
}
