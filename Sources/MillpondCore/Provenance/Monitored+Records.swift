public import MillpondSignals

// Only while whole gets are observed: each is given a recorder of its own, beside the monitor, which
// hears each event once, however many gets share what it is about.
extension Monitored {
  /// Returns the base's answer; the monitor receives its record when it ends.
  @usableFromInline
  func recorded(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    .deferred { [self] in
      let monitor = monitoring.monitor
      // A part of a get that the monitor records already.
      if lookup.details.areHeard(by: monitor) { return answer(key, lookup) }
      let trace = Trace(monitor.time, limit: GetRecord.limit)
      let beginning = monitor.time.now()
      let hasValue = Locked(false)
      return answer(key, monitoring.of(lookup).reporting(by: trace))
        .onNext { answer in if case .value = answer { hasValue.withLock { $0 = true } } }
        .onEnd { ending in
          let end = GetRecord.End(ending, hasValue: hasValue.withLock { $0 })
          let duration = Duration.nanoseconds(monitor.time.now() - beginning)
          monitor.receive(GetRecord(key: key, steps: trace.steps, end: end, duration: duration))
        }
    }
  }

  /// Returns the base's immediate value, of which the monitor receives a record.
  @usableFromInline
  func recordedNow(_ key: Key, _ lookup: Lookup) -> Value? {
    let monitor = monitoring.monitor
    if lookup.details.areHeard(by: monitor) { return reportedNow(key, lookup) }
    let trace = Trace(monitor.time, limit: GetRecord.limit)
    let heard = monitoring.of(lookup).reporting(by: trace)
    guard let value = reportedNow(key, heard) else { return nil }
    monitor.receive(GetRecord(key: key, steps: trace.steps, end: .value))
    return value
  }
}

extension GetRecord.End {
  /// Creates the end of a get from that of its run.
  fileprivate init(_ ending: Ending, hasValue: Bool) {
    switch ending {
    case .failed(let error): self = .failed(error)
    case .completed: self = hasValue ? .value : .miss
    case .disposed: self = hasValue ? .value : .left
    }
  }
}
