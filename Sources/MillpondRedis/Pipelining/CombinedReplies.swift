import MillpondSignals

/// The answers to several commands as one: their success, or the last failure.
final class CombinedReplies: Sendable {
  private struct State: Sendable {
    var missing: Int
    var failure: RedisError?
  }

  private let state: Locked<State>
  private let done: @Sendable (Result<Void, RedisError>) -> Void

  /// Without answers to wait for, `done` is called at once.
  init(of count: Int, _ done: @escaping @Sendable (Result<Void, RedisError>) -> Void) {
    state = Locked(State(missing: count))
    self.done = done
    if count == 0 { done(.success(())) }
  }

  func add(_ result: Result<Void, RedisError>) {
    let (isLast, failure) = state.withLock { state in
      if case .failure(let error) = result { state.failure = error }
      state.missing -= 1
      return (state.missing == 0, state.failure)
    }
    if isLast { done(failure.map { .failure($0) } ?? .success(())) }
  }
}
