extension Signal {
  /// The first value; the subscription ends with it.
  ///
  /// Cancelling the task disposes, and throws `CancellationError`.
  ///
  /// - Throws: The signal's failure; ``SignalError/empty`` if it completes without a value (from a
  ///   cache: its own error for a miss).
  @inlinable
  public var value: Value {
    get async throws {
      guard let value = try await valueIfAny else { throw emptyError?.error ?? SignalError.empty }
      return value
    }
  }

  /// The first value, or nil if the signal completes without any; the subscription ends with it.
  ///
  /// Cancelling the task disposes, and throws `CancellationError`.
  ///
  /// - Throws: The signal's failure.
  @inlinable
  public var valueIfAny: Value? {
    get async throws {
      if let now, let value = now() { return value }
      let answer = FirstAnswer<Value>()
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          guard answer.isAwaited(by: continuation) else { return }
          let subscription = take(1).subscribeAwaited(
            onNext: { answer.settle(.success($0)) },
            onFailed: { answer.settle(.failure($0)) },
            onCompleted: { answer.settle(.success(nil)) })
          answer.keep(subscription)
        }
      } onCancel: {
        answer.settle(.failure(CancellationError()))
      }
    }
  }
}

/// Resumes a continuation once, with whatever comes first: a value, the end, or cancellation.
@usableFromInline
final class FirstAnswer<Value: Sendable>: Sendable {
  @usableFromInline typealias Waiting = CheckedContinuation<Value?, any Error>

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var waiting: Waiting?
    @usableFromInline var subscription: Disposable?
    @usableFromInline var isSettled = false

    @inlinable
    init(isSettled: Bool = false) {
      self.isSettled = isSettled
    }
  }

  @usableFromInline let state = Locked(State())

  @inlinable
  init() {}

  /// Whether an answer is still wanted; if cancellation came first, the continuation is resumed.
  @inlinable
  func isAwaited(by continuation: CheckedContinuation<Value?, any Error>) -> Bool {
    let isAwaited = state.withLock { state in
      if !state.isSettled { state.waiting = continuation }
      return !state.isSettled
    }
    if !isAwaited { continuation.resume(throwing: CancellationError()) }
    return isAwaited
  }

  @inlinable
  func keep(_ subscription: Disposable) {
    let isLate = state.withLock { state in
      if !state.isSettled { state.subscription = subscription }
      return state.isSettled
    }
    if isLate { subscription.dispose() }
  }

  @inlinable
  func settle(_ result: Result<Value?, any Error>) {
    let (waiting, subscription) = state.withLock { state in
      defer { state = State(isSettled: true) }
      return (state.waiting, state.subscription)
    }
    waiting?.resume(with: result)
    subscription?.dispose()
  }
}
