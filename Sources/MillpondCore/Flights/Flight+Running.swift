public import MillpondSignals

/// The run of a flight, and its end.
extension Flight {
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
