public import MillpondSignals
import Synchronization

/// A signal under a test's control, which sends only what the test sends.
///
/// It is polite, and stops when it is disposed of; ``CallbackSource`` does not.
///
///     let source = TestSource<Int>()
///     let recorder = Recorder<Int>().subscribe(to: source.signal.map { $0 + 1 })
///     source.next(1)
///     source.completed()
///
/// Each subscription to ``signal`` is a separate run in ``runs``. An event that is sent to the
/// source goes to all active runs.
///
/// - Note: Any thread. A run that is still active when the source is released fails with
///   `SignalError.abandoned`.
public final class TestSource<Value: Sendable>: Sendable {
  private let state = Watched<[TestRun<Value>]?>([])

  /// Creates a source without subscriptions.
  public init() {}

  // No weak references, because the leak checker cannot see through them. Runs that the test leaves
  // behind are abandoned instead.
  deinit {
    for run in state.change({ exchange(&$0, with: nil) }) ?? [] { run.abandon() }
  }

  /// The signal that the test controls.
  ///
  /// It does not retain the source.
  public var signal: Signal<Value> {
    Signal { [state] observer, lifetime in
      let run = TestRun(observer, lifetime) { state.change { _ in } }
      let isAbandoned = state.change { runs in
        runs?.append(run)
        return runs == nil
      }
      lifetime.onEnd { run.dispose() }
      if isAbandoned { run.abandon() }
    }
  }

  /// All runs that were started, in order.
  public var runs: [TestRun<Value>] {
    state.state ?? []
  }

  /// The number of runs that were started.
  public var subscriptions: Int {
    runs.count
  }

  /// The number of runs that have neither ended nor been disposed of.
  public var activeRuns: Int {
    runs.count { $0.isActive }
  }

  /// The number of runs that were disposed of before their end.
  public var disposals: Int {
    runs.count { $0.isDisposed }
  }

  /// Sends a value to all active runs.
  public func next(_ value: Value) {
    send(.next(value))
  }

  /// Sends progress to all active runs.
  public func progress(_ progress: SignalProgress) {
    send(.progress(progress))
  }

  /// Ends all active runs with an error.
  public func failed(_ error: any Error) {
    send(.failed(error))
  }

  /// Ends all active runs.
  public func completed() {
    send(.completed)
  }

  func send(_ event: Event<Value>) {
    for run in runs { run.send(event) }
  }

  /// Waits until at least `count` runs have been started.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``.
  public func subscriptions(count: Int) async throws {
    try await state.wait(for: "\(count) subscriptions") { $0?.count ?? 0 >= count }
  }

  /// Waits until at least `count` runs have been disposed of before their end.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``.
  public func disposals(count: Int) async throws {
    try await state.wait(for: "\(count) disposals") { runs in
      runs?.count { $0.isDisposed } ?? 0 >= count
    }
  }
}

/// One run of a ``TestSource``.
///
/// - Note: Any thread may send; an event after the end, or after disposal, is dropped.
public final class TestRun<Value: Sendable>: Sendable, CustomStringConvertible {
  private enum Phase: UInt8, AtomicRepresentable {
    case active, ended, disposed
  }

  private let phase = Atomic(Phase.active)
  private let downstream: Locked<Serializer<Value>?>
  private let onDisposed: @Sendable () -> Void

  init(
    _ downstream: Observer<Value>, _ lifetime: Lifetime,
    onDisposed: @escaping @Sendable () -> Void
  ) {
    self.downstream = Locked(Serializer(downstream, lifetime))
    self.onDisposed = onDisposed
  }

  /// Whether the run has neither ended nor been disposed of.
  public var isActive: Bool {
    phase.load(ordering: .acquiring) == .active
  }

  /// Whether the run was disposed of before its end.
  public var isDisposed: Bool {
    phase.load(ordering: .acquiring) == .disposed
  }

  /// The state of the run: active, ended or disposed.
  public var description: String {
    "\(phase.load(ordering: .acquiring))"
  }

  /// Sends a value.
  public func next(_ value: Value) {
    send(.next(value))
  }

  /// Sends the progress of the work.
  public func progress(_ progress: SignalProgress) {
    send(.progress(progress))
  }

  /// Ends the run with an error.
  public func failed(_ error: any Error) {
    send(.failed(error))
  }

  /// Ends the run.
  public func completed() {
    send(.completed)
  }

  func send(_ event: Event<Value>) {
    if event.isTerminal {
      if leave(.ended) { takeSerializer()?.send(event) }
    } else if isActive {
      downstream.withLock { $0 }?.send(event)
    }
  }

  func abandon() {
    failed(SignalError.abandoned(origin: "a TestSource"))
  }

  func dispose() {
    guard leave(.disposed) else { return }
    _ = takeSerializer()
    onDisposed()
  }

  /// Releases the serializer of a run that has ended; the run itself is kept for the test to
  /// inspect.
  private func takeSerializer() -> Serializer<Value>? {
    downstream.withLock { exchange(&$0, with: nil) }
  }

  private func leave(_ next: Phase) -> Bool {
    phase.compareExchange(
      expected: .active, desired: next, ordering: .acquiringAndReleasing
    ).exchanged
  }
}
