/// Events on their way to an executor: they wait in order, and one job at a time delivers them.
@usableFromInline
final class Outbox<Value: Sendable>: Sendable {
  /// The upstream's; it ends early where too much waits.
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let subscriber: Lifetime
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
  @usableFromInline let state: Locked<OutboxState<Value>>

  /// - Parameter schedule: Runs the job it is given once, now or later.
  @inlinable
  init(
    _ downstream: Observer<Value>, _ subscriber: Lifetime, limit: Int,
    schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.downstream = downstream
    self.subscriber = subscriber
    lifetime = subscriber.child()
    self.schedule = schedule
    state = Locked(OutboxState(limit: limit))
  }

  @inlinable
  var observer: Observer<Value> {
    Observer(next: { self.send(.next($0)) }, other: { self.send($0.typed()) })
  }

  @inlinable
  func send(_ event: Event<Value>) {
    let admission = state.withLock { $0.append(event) }
    if admission.endsUpstream { lifetime.end() }
    if admission.needsJob { schedule { self.drain() } }
  }

  @inlinable
  func drain() {
    while let events = state.withLock({ $0.takeAll() }) {
      for event in events { deliver(event) }
    }
  }

  @inlinable
  func deliver(_ event: Event<Value>) {
    if subscriber.isEnded { return }
    if event.isTerminal { lifetime.end() }
    downstream.send(event)
  }
}

/// What waits, and whether a job is on its way.
@usableFromInline
struct OutboxState<Value: Sendable>: Sendable {
  @usableFromInline let limit: Int
  @usableFromInline var waiting: [Event<Value>] = []
  @usableFromInline var hasJob = false
  @usableFromInline var isClosed = false

  @inlinable
  init(limit: Int) {
    self.limit = limit
  }

  @inlinable
  mutating func append(_ event: Event<Value>) -> (needsJob: Bool, endsUpstream: Bool) {
    if isClosed { return (false, false) }
    if case .progress = event, case .progress = waiting.last {
      waiting[waiting.count - 1] = event
      return (false, false)  // what waits has its job
    }
    let overflows = waiting.count >= limit && !event.isTerminal
    if overflows {
      waiting.append(.failed(SignalError.bufferFull(limit: limit)))
    } else {
      waiting.append(event)
    }
    isClosed = overflows || event.isTerminal
    defer { hasJob = true }
    return (!hasJob, overflows)
  }

  /// What waits; nil where nothing does, and the job is done.
  @inlinable
  mutating func takeAll() -> [Event<Value>]? {
    guard !waiting.isEmpty else {
      hasJob = false
      return nil
    }
    defer { waiting = [] }
    return waiting
  }
}
