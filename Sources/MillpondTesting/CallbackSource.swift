import Dispatch
public import MillpondSignals
import Synchronization

/// A callback API under a test's control that cannot be cancelled and keeps no contract.
///
/// Real callbacks come late, twice, from several threads, and after their end. A ``TestSource``
/// stops when it is disposed of; this source continues:
///
///     let source = CallbackSource<Int>()
///     let recorder = Recorder<Int>().subscribe(to: source.signal.map { $0 + 1 })
///     recorder.dispose()
///     source.next(1)       // still sent: it must have no effect
///     source.completed()
///     source.next(2)       // after its own end
///     source.runs[0].sendAtOnce([.next(3), .next(4), .completed])  // from three threads
///
/// Each subscription to ``signal``, and each call of ``value()``, is a separate run in ``runs``.
///
/// - Note: Any thread. A run without an answer when the source is released is abandoned.
public final class CallbackSource<Value: Sendable>: Sendable {
  private let state = Watched<[CallbackRun<Value>]>([])

  /// Creates a source without runs.
  public init() {}

  // Breaks the cycle of the state, its runs and their observers.
  deinit {
    for run in state.change({ exchange(&$0, with: []) }) { run.abandon() }
  }

  /// The API as a signal: `Signal.create` around callbacks.
  ///
  /// It does not retain the source.
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

  /// Calls the API as an asynchronous function, which awaits its first answer even if its task is
  /// cancelled.
  ///
  ///     let signal = Signal.async { try await source.value() }
  ///
  /// - Throws: The failure of the run; `SignalError.empty` if it completes without a value.
  public func value() async throws -> Value {
    let waiting = Locked<CheckedContinuation<Value, any Error>?>(nil)
    let answer = { @Sendable (result: Result<Value, any Error>) in
      // Later events are dropped.
      waiting.withLock { exchange(&$0, with: nil) }?.resume(with: result)
    }
    let run = CallbackRun<Value>(
      Observer(next: { answer(.success($0)) }) { event in
        switch event {
        case .progress: break
        case .failed(let error): answer(.failure(error))
        case .completed: answer(.failure(SignalError.empty))
        }
      })
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiting.withLock { $0 = continuation }
        state.change { $0.append(run) }
      }
    } onCancel: { [state] in
      run.noteCancellation()
      state.change { _ in }
    }
  }

  /// All runs that were started, in order.
  public var runs: [CallbackRun<Value>] {
    state.state
  }

  /// The number of runs that were started.
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
  ///
  /// - Parameter error: The failure.
  public func failed(_ error: any Error) {
    for run in runs { run.send(.failed(error)) }
  }

  /// Waits until at least `count` runs have been started.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``.
  public func subscriptions(count: Int) async throws {
    try await state.wait(for: "\(count) subscriptions") { $0.count >= count }
  }

  /// Waits until the subscriptions of at least `count` runs have ended.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``.
  public func cancellations(count: Int) async throws {
    try await state.wait(for: "\(count) cancellations") { runs in
      runs.count { $0.isCancelled } >= count
    }
  }
}

/// One run of a ``CallbackSource``, which sends every event it is given.
///
/// - Note: Any thread.
public final class CallbackRun<Value: Sendable>: Sendable {
  private let observer: Locked<Observer<Value>?>
  private let cancellation = Atomic(false)

  init(_ observer: Observer<Value>) {
    self.observer = Locked(observer)
  }

  /// Whether the run's subscription has ended, by disposal or by its end; the run can still send.
  public var isCancelled: Bool {
    cancellation.load(ordering: .acquiring)
  }

  /// Sends an event, regardless of earlier ones.
  public func send(_ event: Event<Value>) {
    observer.withLock { $0 }?.send(event)
  }

  /// Sends all events concurrently, each on its own thread, and returns when all were sent.
  ///
  /// Blocks the calling thread meanwhile.
  public func sendAtOnce(_ events: [Event<Value>]) {
    DispatchQueue.concurrentPerform(iterations: events.count) { send(events[$0]) }
  }

  /// Fails the run as abandoned, and releases the observer, like an API that forgets to call back.
  public func abandon() {
    let observer = observer.withLock { exchange(&$0, with: nil) }
    observer?.failed(SignalError.abandoned(origin: "a CallbackSource"))
  }

  func noteCancellation() {
    cancellation.store(true, ordering: .releasing)
  }
}
