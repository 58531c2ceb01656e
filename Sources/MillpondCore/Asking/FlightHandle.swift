public import MillpondSignals
import Synchronization

/// What the askers of a flight have in common: the highest of their priorities, those who listen,
/// and what the flight itself waits for.
///
/// All of it changes while the work goes on, and whoever does the work may look at any time.
@usableFromInline
package final class FlightHandle: Sendable {
  @usableFromInline let timeline: Timeline
  @usableFromInline let startedAt: Duration
  let place: String?
  private let level: Atomic<UInt8>
  private let hasListeners = Atomic<Bool>(false)
  private let state = Locked(State())

  private struct State: Sendable {
    var listeners: [Listener] = []
    var raised: [Int: @Sendable () -> Void] = [:]
    var lastNumber = 0
    var waitsFor: [ObjectIdentifier: (flight: FlightHandle, times: Int)] = [:]
  }

  @usableFromInline
  package init(_ priority: Priority, _ timeline: Timeline, place: String? = nil) {
    level = Atomic(priority.rawValue)
    self.timeline = timeline
    self.place = place
    startedAt = timeline.now()
  }

  /// For how long the flight has been under way.
  @usableFromInline
  package var age: Duration {
    timeline.now() - startedAt
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
  /// Whether anybody wants to hear what happens to the flight.
  @usableFromInline
  package var isHeard: Bool {
    hasListeners.load(ordering: .acquiring)
  }

  var listeners: [Listener] {
    isHeard ? state.withLock { $0.listeners } : []
  }

  /// Lets those who listen to a joiner hear the flight; one that hears it already hears no more.
  @usableFromInline
  package func add(listenersOf lookup: Lookup) {
    let new = lookup.details?.allListeners ?? []
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
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
    var open = [self]
    while let next = open.popLast() {
      for flight in next.state.withLock({ $0.waitsFor.values.map(\.flight) }) {
        if flight === goal { return true }
        if seen.insert(ObjectIdentifier(flight)).inserted { open.append(flight) }
      }
    }
    return false
  }
}
