public import MillpondSignals
import Synchronization

/// A signal under a test's control: nothing is sent until the test says so.
///
/// It is a polite one, which stops when it is disposed of; ``CallbackSource`` is not.
///
///     let source = TestSource<Int>()
///     let recorder = Recorder<Int>().subscribe(to: source.signal.map { $0 + 1 })
///     source.next(1)
///     source.completed()
///
/// Each subscription to ``signal`` is a run of its own in ``runs``. What is sent to the source goes
/// to all runs that are active.
///
/// - Note: Any thread. A run that is still active when the source is released fails with
///   `SignalError.abandoned`.
public final class TestSource<Value: Sendable>: Sendable {
  private let state = Watched<[TestRun<Value>]?>([])

  /// A source that nobody has subscribed to.
  public init() {}

  // No weak references here: the leak checker can't see through them. What the test leaves behind
  // is taken apart instead.
  deinit {
    let abandoned = state.change { runs in
      defer { runs = nil }
      return runs ?? []
    }
    for run in abandoned { run.abandon() }
  }

  /// The signal that the test controls.
  ///
  /// It does not keep the source alive.
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

  /// Every run that was started, in order.
  public var runs: [TestRun<Value>] {
    state.state ?? []
  }

  /// How many runs were started.
  public var subscriptions: Int {
    runs.count
  }

  /// How many runs have neither ended nor been disposed of.
  public var activeRuns: Int {
    runs.count { $0.isActive }
  }

  /// How many runs were told to stop before their end.
  public var disposals: Int {
    runs.count { $0.isDisposed }
  }

  /// Sends a value to all active runs.
  public func next(_ value: Value) {
    for run in runs { run.next(value) }
  }

  /// Sends progress to all active runs.
  public func progress(_ progress: SignalProgress) {
    for run in runs { run.progress(progress) }
  }

  /// Ends all active runs by an error.
  public func failed(_ error: any Error) {
    for run in runs { run.failed(error) }
  }

  /// Ends all active runs.
  public func completed() {
    for run in runs { run.completed() }
  }

  /// Waits until at least `count` runs have been started.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``.
  public func subscriptions(count: Int) async throws {
    try await state.wait(for: "\(count) subscriptions") { $0?.count ?? 0 >= count }
  }

  /// Waits until at least `count` runs have been told to stop before their end.
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
/// - Note: Any thread may send; what is sent after the end, or after disposal, is dropped.
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

  /// Whether it has neither ended nor been told to stop.
  public var isActive: Bool {
    phase.load(ordering: .acquiring) == .active
  }

  /// Whether it was told to stop before its end.
  public var isDisposed: Bool {
    phase.load(ordering: .acquiring) == .disposed
  }

  /// What has become of it.
  public var description: String {
    "\(phase.load(ordering: .acquiring))"
  }

  /// Sends a value.
  public func next(_ value: Value) {
    if isActive { serializer?.send(.next(value)) }
  }

  /// Sends how far the work has come.
  public func progress(_ progress: SignalProgress) {
    if isActive { serializer?.send(.progress(progress)) }
  }

  /// Ends the run by an error.
  public func failed(_ error: any Error) {
    if leave(.ended) { takeSerializer()?.send(.failed(error)) }
  }

  /// Ends the run.
  public func completed() {
    if leave(.ended) { takeSerializer()?.send(.completed) }
  }

  func abandon() {
    failed(SignalError.abandoned(origin: "a TestSource"))
  }

  func dispose() {
    guard leave(.disposed) else { return }
    _ = takeSerializer()
    onDisposed()
  }

  private var serializer: Serializer<Value>? {
    downstream.withLock { $0 }
  }

  /// Lets go of what can't receive anything any more: the run itself is kept for the test to look at.
  private func takeSerializer() -> Serializer<Value>? {
    downstream.withLock { serializer in
      defer { serializer = nil }
      return serializer
    }
  }

  private func leave(_ next: Phase) -> Bool {
    phase.compareExchange(
      expected: .active, desired: next, ordering: .acquiringAndReleasing
    ).exchanged
  }
}
