import Dispatch
public import MillpondSignals
import Synchronization

/// A callback API under a test's control that cannot be cancelled and keeps no contract.
///
/// Real callbacks come late, twice, from several threads, and after their end. A ``TestSource`` stops
/// when it is disposed of; this goes on:
///
///     let source = CallbackSource<Int>()
///     let recorder = Recorder<Int>().subscribe(to: source.signal.map { $0 + 1 })
///     recorder.dispose()
///     source.next(1)       // sent all the same: nothing may come of it
///     source.completed()
///     source.next(2)       // after its own end
///     source.runs[0].sendAtOnce([.next(3), .next(4), .completed])  // from three threads
///
/// Each subscription to ``signal``, and each call of ``value()``, is a run of its own in ``runs``.
///
/// - Note: Any thread. A run that has not answered when the source is released is abandoned.
public final class CallbackSource<Value: Sendable>: Sendable {
  private let state = Watched<[CallbackRun<Value>]>([])

  /// A source that has not been called.
  public init() {}

  // Taken apart, since a run may hold an observer that holds this.
  deinit {
    let abandoned = state.change { runs in
      defer { runs = [] }
      return runs
    }
    for run in abandoned { run.abandon() }
  }

  /// The API as a signal: `Signal.create` around callbacks.
  ///
  /// It does not keep the source alive.
  public var signal: Signal<Value> {
    .create { [state] observer, lifetime in
      let run = CallbackRun(observer)
      lifetime.onEnd {
        run.noteCancellation()
        state.change { _ in }
      }
      state.change { $0.append(run) }
    }
  }

  /// The API as an asynchronous function: waits for the first answer, also when its task is cancelled.
  ///
  ///     let signal = Signal.async { try await source.value() }
  ///
  /// - Throws: What the run fails with; `SignalError.empty` if it completes without a value.
  public func value() async throws -> Value {
    let answer = CallbackAnswer<Value>()
    let run = CallbackRun(answer.observer)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.wait(continuation)
        state.change { $0.append(run) }
      }
    } onCancel: { [state] in
      run.noteCancellation()
      state.change { _ in }
    }
  }

  /// Every run that was started, in order.
  public var runs: [CallbackRun<Value>] {
    state.state
  }

  /// How many runs were started.
  public var subscriptions: Int {
    runs.count
  }

  /// Sends a value to all runs.
  public func next(_ value: Value) {
    for run in runs { run.send(.next(value)) }
  }

  /// Completes all runs.
  public func completed() {
    for run in runs { run.send(.completed) }
  }

  /// Fails all runs.
  public func failed(_ error: any Error) {
    for run in runs { run.send(.failed(error)) }
  }

  /// Waits until at least `count` runs have been started.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``.
  public func subscriptions(count: Int) async throws {
    try await state.wait(for: "\(count) subscriptions") { $0.count >= count }
  }

  /// Waits until at least `count` runs are not wanted any more.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``.
  public func cancellations(count: Int) async throws {
    try await state.wait(for: "\(count) cancellations") { runs in
      runs.count { $0.isCancelled } >= count
    }
  }
}

/// Answers one continuation with the first value or end; what follows is dropped, as it must be.
private final class CallbackAnswer<Value: Sendable>: Sendable {
  private let waiting = Locked<CheckedContinuation<Value, any Error>?>(nil)

  func wait(_ continuation: CheckedContinuation<Value, any Error>) {
    waiting.withLock { $0 = continuation }
  }

  var observer: Observer<Value> {
    Observer(next: { self.answer(.success($0)) }) { event in
      switch event {
      case .progress: break
      case .failed(let error): self.answer(.failure(error))
      case .completed: self.answer(.failure(SignalError.empty))
      }
    }
  }

  private func answer(_ result: Result<Value, any Error>) {
    let continuation = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    continuation?.resume(with: result)
  }
}

/// One run of a ``CallbackSource``, which sends whatever it is told to, for as long as it is told to.
///
/// - Note: Any thread.
public final class CallbackRun<Value: Sendable>: Sendable {
  private let observer: Locked<Observer<Value>?>
  private let cancellation = Atomic(false)

  init(_ observer: Observer<Value>) {
    self.observer = Locked(observer)
  }

  /// Whether its subscription has ended, by disposal or by its end; it answers all the same.
  public var isCancelled: Bool {
    cancellation.load(ordering: .acquiring)
  }

  /// Sends an event, whatever was sent before.
  public func send(_ event: Event<Value>) {
    observer.withLock { $0 }?.send(event)
  }

  /// Sends each event on a thread of its own, all of them at once; returns when all were sent.
  ///
  /// Blocks the calling thread meanwhile.
  public func sendAtOnce(_ events: [Event<Value>]) {
    DispatchQueue.concurrentPerform(iterations: events.count) { send(events[$0]) }
  }

  /// Lets go of the observer, as an API does that forgets to call back: the run is abandoned.
  public func abandon() {
    let observer = observer.withLock { observer in
      defer { observer = nil }
      return observer
    }
    observer?.failed(SignalError.abandoned(origin: "a CallbackSource"))
  }

  func noteCancellation() {
    cancellation.store(true, ordering: .releasing)
  }
}
