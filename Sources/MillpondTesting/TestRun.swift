public import MillpondSignals
import Synchronization

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
