public import Dispatch

extension Signal {
  /// Delivers every event on `queue`, in order, one at a time.
  ///
  /// Progress is conflated: of consecutive progress events that wait, only the latest is delivered.
  ///
  /// - Parameters:
  ///   - queue: A serial or concurrent queue; deliveries never overlap.
  ///   - limit: The number of events that may wait. A value or progress beyond it ends the signal
  ///     with ``SignalError/bufferFull(limit:)``, after the waiting events.
  @inlinable
  public func receive(on queue: DispatchQueue, limit: Int = 65_536) -> Signal {
    received(limit) { drain in
      queue.async { drain() }
    }
  }
}

extension Signal {
  /// Delivers every event on `executor`, in order, one at a time.
  ///
  /// For an executor of the app's own: a task on it delivers the events that wait. An actor
  /// receives the events of a signal with `for try await` over ``values``.
  ///
  /// - Parameters:
  ///   - executor: The executor of the tasks that deliver.
  ///   - limit: The number of events that may wait, see ``receive(on:limit:)-(DispatchQueue,_)``.
  public func receive(on executor: any TaskExecutor, limit: Int = 65_536) -> Signal {
    received(limit) { drain in
      Task(executorPreference: executor) { drain() }
    }
  }
}

extension Signal {
  /// Delivers every event on the main actor, in order, one at a time.
  ///
  /// An event that is sent on the main thread while none waits is delivered at once, without a hop:
  /// a value in memory is on the screen before the first frame.
  ///
  /// - Parameters:
  ///   - actor: The main actor.
  ///   - limit: The number of events that may wait, see ``receive(on:limit:)-(DispatchQueue,_)``.
  public func receive(on actor: MainActor, limit: Int = 65_536) -> Signal {
    received(limit) { drain in
      if isOnMainQueue() {
        drain()
      } else {
        DispatchQueue.main.async { drain() }
      }
    }
  }

  /// Runs the signal and receives its events on the main actor.
  ///
  /// The closures may touch state of the main actor. Otherwise the same as
  /// ``subscribe(onProgress:onNext:onFailed:onCompleted:)``.
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

/// Returns whether the caller runs on the main queue, which is the executor of the main actor.
///
/// `Thread.isMainThread` is no substitute: under `dispatchMain()` there is no main thread.
func isOnMainQueue() -> Bool {
  DispatchQueue.getSpecific(key: mainQueueKey) ?? false
}

private let mainQueueKey: DispatchSpecificKey<Bool> = {
  let key = DispatchSpecificKey<Bool>()
  DispatchQueue.main.setSpecific(key: key, value: true)
  return key
}()

extension Signal {
  /// Delivers every event in a job that `schedule` runs.
  @inlinable
  func received(
    _ limit: Int, by schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) -> Signal {
    derived { observer, lifetime in
      let outbox = Outbox(observer, lifetime, limit: limit, schedule: schedule)
      run(outbox.observer, outbox.lifetime)
    }
  }
}

/// A queue of events on their way to an executor; one job at a time delivers them, in order.
@usableFromInline
@_fixed_layout
final class Outbox<Value: Sendable>: Sendable {
  /// The lifetime of the upstream, which ends early when too many events wait.
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let subscriber: Lifetime
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
  @usableFromInline let state: Locked<OutboxState<Value>>

  /// - Parameter schedule: Runs the given job once, now or later.
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

/// The waiting events, and whether a job is scheduled for them.
@usableFromInline
@frozen
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
      return (false, false)  // the waiting event has a job already
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

  /// Takes all waiting events; returns nil, and marks the job as done, when there are none.
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
