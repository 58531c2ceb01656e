public import Dispatch

extension Signal {
  /// Delivers every event on `queue`, in order, one at a time.
  ///
  /// Progress is conflated: of several that wait in a row, the latest is delivered.
  ///
  /// - Parameters:
  ///   - queue: Serial or concurrent, deliveries never overlap.
  ///   - limit: How many events may wait; one more ends the signal with
  ///     ``SignalError/bufferFull(limit:)``, after those that wait.
  @inlinable
  public func receive(on queue: DispatchQueue, limit: Int = 65_536) -> Signal {
    Signal(
      start: { observer, lifetime in
        let outbox = Outbox(observer, lifetime, limit: limit) { drain in
          queue.async { drain() }
        }
        run(outbox.observer, outbox.lifetime)
      }, now: nil, emptyError: emptyError)
  }
}

extension Signal {
  /// Delivers every event on the main actor, in order, one at a time.
  ///
  /// What is sent on the main thread while nothing waits is delivered there at once, without a
  /// hop: a value that is in memory is on the screen before the first frame.
  ///
  /// - Parameter limit: As in ``receive(on:limit:)-(DispatchQueue,_)``.
  public func receive(on actor: MainActor, limit: Int = 65_536) -> Signal {
    Signal(
      start: { observer, lifetime in
        let outbox = Outbox(observer, lifetime, limit: limit) { drain in
          if MainQueue.isCurrent {
            drain()
          } else {
            DispatchQueue.main.async { drain() }
          }
        }
        run(outbox.observer, outbox.lifetime)
      }, now: nil, emptyError: emptyError)
  }

  /// Runs the signal and receives its events on the main actor.
  ///
  /// As ``subscribe(onProgress:onNext:onFailed:onCompleted:)``, with closures that may touch what
  /// belongs to the main actor.
  @discardableResult
  public func subscribeOnMain(
    onProgress: (@MainActor @Sendable (SignalProgress) -> Void)? = nil,
    onNext: (@MainActor @Sendable (Value) -> Void)? = nil,
    onFailed: (@MainActor @Sendable (any Error) -> Void)? = nil,
    onCompleted: (@MainActor @Sendable () -> Void)? = nil
  ) -> Disposable {
    receive(on: MainActor.shared).subscribe(
      onProgress: { progress in MainActor.assumeIsolated { onProgress?(progress) } },
      onNext: { value in MainActor.assumeIsolated { onNext?(value) } },
      onFailed: { error in MainActor.assumeIsolated { onFailed?(error) } },
      onCompleted: { MainActor.assumeIsolated { onCompleted?() } })
  }
}

/// Tells whether the running code is on the main queue, which is the main actor's executor.
///
/// `Thread.isMainThread` would not do: where `dispatchMain()` runs, there is no main thread.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool {
    DispatchQueue.getSpecific(key: key) ?? false
  }
}

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
