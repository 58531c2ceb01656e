public import MillpondSignals

/// Subscribes to a signal and writes down what it receives.
///
///     let recorder = Recorder<Int>().subscribe(to: cache.get("a"))
///     try await recorder.ended()
///     #expect(recorder.values == [1])
///
/// It receives as an operator does, in front of the gate that `subscribe` puts up, so that
/// deliveries that overlap, and events after the end, are seen; they are in ``violations``.
/// Waiting is for an event, under a ``Watchdog``, and blocks no thread.
///
/// - Note: Any thread. One recorder records one subscription.
public final class Recorder<Value: Sendable>: Sendable {
  private let lifetime = Lifetime()
  private let record = Watched(Recording<Value>())

  /// A recorder that has not subscribed yet.
  public init() {}

  /// Runs `signal` and records its events from now on.
  ///
  /// - Parameter react: Runs for each event, while it is being delivered.
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

  /// All that was received, in order.
  public var events: [Event<Value>] {
    record.state.events
  }

  /// The values that were received.
  public var values: [Value] {
    record.state.values
  }

  /// The progress that was received.
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

  /// What the signal has failed with.
  public var failure: (any Error)? {
    if case .failed(let error) = end { error } else { nil }
  }

  /// What was received, a word or two for each event: `["progress 1/2", "next a", "completed"]`.
  public var transcript: [String] {
    events.map(\.summary)
  }

  /// Where the signal broke its contract; empty for a signal that keeps it.
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

  /// Waits for `count` values, and gives them.
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
    // As after `subscribe`: disposal is silence. After a terminal event it is a violation.
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
