extension Signal {
  /// The first value; the subscription ends with it.
  ///
  /// Cancelling the task disposes, and throws `CancellationError`; while the signal starts, which
  /// is a call, only once that has returned.
  ///
  /// - Throws: The signal's failure; ``SignalError/empty`` if it completes without a value (from a
  ///   cache: its own error for a miss).
  @inlinable
  public var value: Value {
    get async throws {
      if let value = now?() { return value }
      guard let value = try await FirstAnswer.of(self) else {
        throw emptyError?.error ?? SignalError.empty
      }
      return value
    }
  }

  /// The first value, or nil if the signal completes without any; the subscription ends with it.
  ///
  /// Cancelling the task disposes, and throws `CancellationError`; while the signal starts, which
  /// is a call, only once that has returned.
  ///
  /// - Throws: The signal's failure.
  @inlinable
  public var valueIfAny: Value? {
    get async throws {
      if let value = now?() { return value }
      return try await FirstAnswer.of(self)
    }
  }
}

/// The first value of a run, its end, or a cancellation, whichever comes first, for a task to
/// await.
///
/// It is the lifetime of the run.
@usableFromInline
@_fixed_layout
final class FirstAnswer<Value: Sendable>: LifetimeCore, @unchecked Sendable {
  // Sendable because it adds only a locked state.

  @usableFromInline typealias Answer = Result<Value?, any Error>

  @usableFromInline
  enum Stage: Sendable {
    case open
    case awaited(UnsafeContinuation<Void, Never>)
    case settled(Answer)
  }

  @usableFromInline let state: Locked<Stage>

  @inlinable
  init() {
    state = Locked(.open)
    super.init(bits: LifetimeCore.awaited)
  }

  /// Awaits the first answer of a signal that has none at once.
  @inlinable
  static func of(_ signal: Signal<Value>) async throws -> Value? {
    try Task.checkCancellation()
    let answer = FirstAnswer()
    signal.start?(
      Observer(next: { answer.settle(.success($0)) }, other: { answer.receive($0) }),
      Lifetime(core: answer))
    // Many signals have answered by now; then the task is not suspended. A handler for the start too
    // would take a fifth of a miss.
    if answer.isOpen {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { answer.resume($0) }
      } onCancel: {
        runCancellationHandler { answer.settle(.failure(CancellationError())) }
      }
    }
    return try answer.settled()
  }

  @inlinable
  var isOpen: Bool {
    state.withLock { if case .open = $0 { true } else { false } }
  }

  /// Resumes the task when there is an answer; at once if there is one already.
  @inlinable
  func resume(_ continuation: UnsafeContinuation<Void, Never>) {
    let isOpen = state.withLock { state in
      guard case .open = state else { return false }
      state = .awaited(continuation)
      return true
    }
    if !isOpen { continuation.resume() }
  }

  /// Returns the answer, which must have arrived.
  @inlinable
  func settled() throws -> Value? {
    let state = state.withLock { $0 }
    return if case .settled(let answer) = state { try answer.get() } else { nil }
  }

  @inlinable
  func receive(_ event: Event<Never>) {
    switch event {
    case .progress: break
    case .failed(let error): settle(.failure(error))
    case .completed: settle(.success(nil))
    }
  }

  /// Settles the answer, unless it is settled, and ends the run.
  @inlinable
  func settle(_ answer: Answer) {
    let (waiting, isFirst) = state.withLock { state -> (UnsafeContinuation<Void, Never>?, Bool) in
      switch state {
      case .settled: return (nil, false)
      case .open:
        state = .settled(answer)
        return (nil, true)
      case .awaited(let waiting):
        state = .settled(answer)
        return (waiting, true)
      }
    }
    guard isFirst else { return }
    end {}
    waiting?.resume()
  }
}
