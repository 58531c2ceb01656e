public import MillpondSignals

/// A subscriber that records the events of a signal.
///
///     let recorder = Recorder<Int>().subscribe(to: cache.get("a"))
///     try await recorder.ended()
///     #expect(recorder.values == [1])
///
/// It receives events as an operator does, without the gate of `subscribe`, so overlapping
/// deliveries and events after the end appear in ``violations``. Its waits are for events, under a
/// ``Watchdog``, and block no thread.
///
/// - Note: Any thread. One recorder records one subscription.
public final class Recorder<Value: Sendable>: Sendable {
  private let lifetime = Lifetime()
  private let record = Watched(Recording<Value>())

  /// Creates a recorder without a subscription.
  public init() {}

  /// Runs `signal` and records its events from now on.
  ///
  /// - Parameters:
  ///   - signal: The signal to run.
  ///   - react: Runs for each event, during its delivery.
  @discardableResult
  public func subscribe(
    to signal: Signal<Value>, _ react: @escaping @Sendable (Event<Value>) -> Void = { _ in }
  ) -> Recorder {
    signal.run(
      Observer(
        next: { self.receive(.next($0), react) }, other: { self.receive($0.typed(), react) }),
      lifetime)
    return self
  }

  /// Ends the subscription; idempotent.
  public func dispose() {
    lifetime.end()
  }

  /// All received events, in order.
  public var events: [Event<Value>] {
    record.state.events
  }

  /// The received values.
  public var values: [Value] {
    record.state.values
  }

  /// The received progress.
  public var progress: [SignalProgress] {
    record.state.progress
  }

  /// The terminal event; nil before it.
  public var end: Event<Never>? {
    record.state.end
  }

  /// Whether the signal has completed.
  public var isCompleted: Bool {
    if case .completed = end { true } else { false }
  }

  /// The error that the signal failed with; nil if it did not fail.
  public var failure: (any Error)? {
    if case .failed(let error) = end { error } else { nil }
  }

  /// The received events, in a word or two each: `["progress 1/2", "next a", "completed"]`.
  public var transcript: [String] {
    events.map(\.summary)
  }

  /// The breaches of the signal contract; empty for a signal that keeps it.
  public var violations: [Violation] {
    record.state.violations
  }

  /// Waits for the terminal event.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``.
  @discardableResult
  public func ended() async throws -> Event<Never> {
    try await record.wait(for: "the end") { $0.end != nil }
    guard let end else { throw CancellationError() }
    return end
  }

  /// Waits for `count` values, and returns them.
  ///
  /// - Throws: ``WaitError/timedOut(awaited:state:)``; ``WaitError/ended(awaited:state:)`` if the
  ///   signal ended with fewer.
  @discardableResult
  public func values(count: Int) async throws -> [Value] {
    try await record.wait(for: "\(count) values") { $0.values.count >= count || $0.end != nil }
    let values = values
    guard values.count >= count else {
      throw WaitError.ended(awaited: "\(count) values", state: "\(record.state)")
    }
    return Array(values.prefix(count))
  }

  private func receive(_ event: Event<Value>, _ react: (Event<Value>) -> Void) {
    // An event after disposal is dropped, as by `subscribe`; after a terminal event it is a
    // violation.
    if lifetime.isEnded, end == nil { return }
    record.change { $0.begin(event) }
    if event.isTerminal {
      lifetime.end { react(event) }
    } else {
      react(event)
    }
    record.change { $0.finish() }
  }
}
