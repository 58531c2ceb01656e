public import MillpondSignals

// Only while whole gets are observed: each is given a recorder of its own.
extension Monitored {
  /// Returns the base's answer; the monitor receives its record when it ends.
  @usableFromInline
  func recorded(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    Signal { [self] observer, lifetime in
      let record = RunningRecord(monitoring.monitor, key)
      lifetime.onEnd { record.send() }
      answer(key, lookup.reporting(by: record.trace)).run(
        Observer(
          next: { stamped in
            record.note(GetRecord.End.value)
            observer.next(stamped)
          },
          other: { event in
            record.note(event)
            observer.other(event)
          }), lifetime)
    }
  }

  /// Returns the base's immediate value, of which the monitor receives a record.
  @usableFromInline
  func recordedNow(_ key: Key, _ lookup: Lookup) -> Value? {
    let monitor = monitoring.monitor
    let trace = Trace(monitor.time, limit: GetRecord.limit, next: monitor)
    guard let value = reportedNow(key, lookup.reporting(by: trace)) else { return nil }
    monitor.receive(GetRecord(key: key, steps: trace.steps, end: .value))
    return value
  }
}

/// The record of a get that has not ended.
private final class RunningRecord: Sendable {
  let trace: Trace
  private let monitor: CacheMonitor
  private let key: any Hashable & Sendable
  private let begin: Int64

  /// The end so far, until the record is sent.
  private let end = Locked<GetRecord.End?>(.left)

  init(_ monitor: CacheMonitor, _ key: any Hashable & Sendable) {
    trace = Trace(monitor.time, limit: GetRecord.limit, next: monitor)
    self.monitor = monitor
    self.key = key
    begin = monitor.time.now()
  }

  /// Notes that a value came, or that the get failed.
  func note(_ end: GetRecord.End) {
    self.end.withLock { if $0 != nil { $0 = end } }
  }

  func note(_ event: Event<Never>) {
    switch event {
    case .progress: return
    case .failed(let error): note(GetRecord.End.failed(error))
    case .completed: end.withLock { if case .left? = $0 { $0 = .miss } }
    }
    send()
  }

  /// Sends the record, once.
  func send() {
    guard let end = end.withLock({ exchange(&$0, with: nil) }) else { return }
    monitor.receive(
      GetRecord(
        key: key, steps: trace.steps, end: end, duration: .nanoseconds(monitor.time.now() - begin)))
  }
}
