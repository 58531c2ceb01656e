public import MillpondSignals
import Synchronization

/// The state that the callers of a flight share: the highest of their priorities, and the
/// listeners.
///
/// It is the context of the flight's work, and has no outer context, since a flight serves many
/// callers. Its state changes during the work, which may read it at any time.
@usableFromInline
package class FlightHandle: WorkContext, @unchecked Sendable {
  // Sendable because what the class and its subclasses hold is immutable, atomic or locked.
  final let clock: FlightClock
  final let place: String?
  private final let startedAt = AtomicValue<Int>(.min)
  private final let level: AtomicValue<UInt8>
  private final let hasListener = AtomicValue<Bool>(false)
  private final let lazyState = LazyObject()

  /// The mutable state, created on first use: most flights have no listeners and no raised
  /// priority.
  private final var state: Locked<State> {
    lazyState.locked(State())
  }

  private struct State: Sendable {
    /// The listeners to all gets; a few, each of them once, however many callers it has.
    var listeners: [any CacheEventListener] = []

    /// The listeners of each caller.
    var callers = Registry<ListeningCaller>()
    var raised = Registry<@Sendable () -> Void>()

    /// Whether what the flight has asked was changed elsewhere, and what keeps that up to date.
    var changes: [(hasArrived: Locked<Bool>, following: ScopedDisposable)] = []

    /// Returns whether memory may have forgotten something since it was asked; nil if a layer below
    /// has been asked after it.
    var memoryHasChanged: (@Sendable () -> Bool)?

    /// The flights for which it waits.
    var inner: [FlightHandle] = []
  }

  /// Creates the handle of a flight that has not begun.
  ///
  /// Calls no other code, so that it can be created under a lock.
  @usableFromInline
  package init(_ priority: Priority, _ clock: FlightClock, place: String? = nil) {
    level = AtomicValue(priority.rawValue)
    self.clock = clock
    self.place = place
  }

  override final var flight: WorkContext? { self }

  /// Whether the flight has listeners.
  @usableFromInline
  package final var hasListeners: Bool {
    hasListener.load(ordering: .acquiring)
  }
}

/// The clocks of flights.
@usableFromInline
package final class FlightClock: Sendable {
  /// An exact clock that times the layers of a flight; read only if the flight has listeners.
  let exact: ExactTime

  /// A coarse clock for the ages of flights, read whenever one begins.
  let time: CoarseTime

  @usableFromInline
  package init(_ clock: some Clock<Duration>) {
    exact = ExactTime(clock)
    time = CoarseTime(clock)
  }

  @usableFromInline
  init(_ scheduler: Scheduler) {
    exact = ExactTime(scheduler)
    time = CoarseTime(scheduler)
  }
}

/// The handle of a flight with one key.
@usableFromInline
@_fixed_layout
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
  /// Records that the flight begins now.
  @usableFromInline
  package func begin() {
    startedAt.store(Int(clock.time.now()), ordering: .relaxed)
  }

  /// The time since the flight began; zero before.
  @usableFromInline
  package var age: Duration {
    .nanoseconds(nanoseconds)
  }

  /// The age of the flight in nanoseconds.
  var nanoseconds: Int64 {
    let startedAt = startedAt.load(ordering: .relaxed)
    return startedAt == .min ? 0 : clock.time.now() - Int64(startedAt)
  }
}

extension FlightHandle {
  /// The highest priority of the waiting callers.
  @usableFromInline
  package var priority: Priority {
    Priority(rawValue: level.load(ordering: .relaxed)) ?? .normal
  }

  /// Sets the priority; returns whether it rose, so that ``announceRaise()`` is due.
  @usableFromInline
  package func setPriority(_ priority: Priority) -> Bool {
    level.exchange(priority.rawValue, ordering: .relaxed) < priority.rawValue
  }

  /// Tells the queues in which the flight's work waits that its priority rose.
  @usableFromInline
  package func announceRaise() {
    for action in state.withLock({ $0.raised.elements }) { action() }
  }

  /// Runs `action` after every rise of the priority, until the handle is disposed of.
  func onRaise(_ action: @escaping @Sendable () -> Void) -> Disposable {
    state.keep(action, in: \.raised)
  }
}

/// The listeners of one caller of a flight, for the events of its own get.
private struct ListeningCaller: Sendable {
  let listeners: [any CacheEventListener]
  let check: ValueCheck?
}

extension FlightHandle {
  var listeners: [any CacheEventListener] {
    guard hasListeners else { return [] }
    return state.withLock { $0.listeners + $0.callers.elements.flatMap(\.listeners) }
  }

  /// The check of a value by a codec of one of the callers.
  ///
  /// One speaks for all: callers with listeners and different codecs are not told apart.
  var check: ValueCheck? {
    guard hasListeners else { return nil }
    return state.withLock { $0.callers.elements.lazy.compactMap(\.check).first }
  }

  /// Sends an event to the listeners, except those that have received it.
  func send(_ event: CacheEvent, except others: [any CacheEventListener] = []) {
    guard hasListeners else { return }
    for listener in listeners where !others.contains(where: { $0 === listener }) {
      listener.receive(event)
    }
  }

  /// Adds the listeners of a caller that joins, and the check of its codec, until `lifetime` ends.
  ///
  /// - Complexity: O(1), for a small number of monitors.
  @usableFromInline
  package func add(_ lookup: Lookup, until lifetime: Lifetime) {
    var own: [any CacheEventListener] = []
    let (new, check) = (lookup.details.listeners, lookup.details.check)
    for listener in new where listener.isOfOneGet { own.append(listener) }
    let number = state.withLock { state -> Int? in
      for listener in new
      where !listener.isOfOneGet && !state.listeners.contains(where: { $0 === listener }) {
        state.listeners.append(listener)
      }
      if own.isEmpty, check == nil { return nil }
      return state.callers.add(ListeningCaller(listeners: own, check: check))
    }
    hasListener.store(true, ordering: .releasing)
    guard let number else { return }
    lifetime.onEnd { [state] in state.discard { $0.callers.remove(number) } }
  }
}

// MARK: - Changes elsewhere

extension FlightHandle {
  /// Whether another process has changed what the flight has asked for, so that no later get may
  /// join it.
  @usableFromInline
  package final var isOutdated: Bool {
    if lazyState.object == nil { return false }
    let (changes, memoryHasChanged, inner) = state.withLock {
      ($0.changes, $0.memoryHasChanged, $0.inner)
    }
    if memoryHasChanged?() == true { return true }
    return changes.contains { $0.hasArrived.withLock { $0 } } || inner.contains { $0.isOutdated }
  }

  /// Follows the changes by other processes of what the flight is about to ask for.
  ///
  /// - Parameter follow: Calls what it receives at such a change, until the handle is disposed of:
  ///   when the flight is released.
  package final func followChanges(_ follow: (@escaping @Sendable () -> Void) -> Disposable) {
    let hasArrived = Locked(false)
    let following = follow { hasArrived.withLock { $0 = true } }.scoped()
    state.withLock { state in
      state.changes.append((hasArrived, following))
      state.memoryHasChanged = nil
    }
  }

  /// Notes that memory is about to be asked, which forgets what other processes change.
  ///
  /// - Parameter hasChanged: Returns whether it may have forgotten something since.
  package final func willAskMemory(_ hasChanged: @escaping @Sendable () -> Bool) {
    state.withLock { $0.memoryHasChanged = hasChanged }
  }

  /// Notes that the flight waits for another one, and is outdated if that is.
  final func follow(_ inner: FlightHandle) {
    state.withLock { $0.inner.append(inner) }
  }
}
