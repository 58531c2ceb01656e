public import MillpondSignals
import Synchronization

/// The run of a flight, and its end.
extension Flight {
  /// Runs the work, unless all callers have left already.
  @inlinable
  func start(_ work: (FlightHandle) -> Signal<Value>) {
    if run.lifetime.isEnded { return }
    WorkContext.run(inNew: run.constants.handle) {
      work(run.constants.handle).run(
        Observer(next: { self.receive($0) }, other: { self.receiveOther($0) }), run.lifetime)
    }
  }

  /// Sends a value without a context; callers that have one restore it themselves.
  @inlinable
  func receive(_ value: Value) {
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

/// A caller that works for another flight, and whose priority rises with that flight's.
///
/// Its mutable state changes under the lock of the table.
@usableFromInline
final class FollowingCaller<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let flight: Flight<Key, Value>
  private let level: AtomicValue<UInt8>
  private let hasLeft = AtomicValue(false)

  /// Follows `outer` until `lifetime` ends.
  @usableFromInline
  init(_ caller: FlightCaller<Key, Value>, _ outer: FlightHandle, _ lifetime: Lifetime) {
    flight = caller.flight
    level = AtomicValue(caller.priority.rawValue)
    outer.follow(caller.flight.handle)
    let listening = outer.onRaise { self.raise(to: outer.priority) }
    lifetime.onEnd { listening.dispose() }
    // The priority may have risen before the observation began.
    raise(to: outer.priority)
  }

  /// Leaves the flight when `lifetime` ends.
  @usableFromInline
  func leave(_ number: Int, atEndOf lifetime: Lifetime) {
    lifetime.onEnd { self.flight.leave(number, self.priorityOfLeaver()) }
  }

  private var priority: Priority {
    Priority(rawValue: level.load(ordering: .relaxed)) ?? .normal
  }

  private func priorityOfLeaver() -> Priority {
    hasLeft.store(true, ordering: .relaxed)
    return priority
  }

  private func raise(to priority: Priority) {
    let isRaised = flight.table.withLock { _ in
      guard !hasLeft.load(ordering: .relaxed), priority > self.priority else { return false }
      let isRaised = flight.count(1, priority)
      flight.count(-1, self.priority)
      level.store(priority.rawValue, ordering: .relaxed)
      return isRaised
    }
    if isRaised { flight.handle.announceRaise() }
  }
}
