import MillpondSignals

/// A task asleep: woken once, by its time or by its cancellation.
final class Sleeper: Sendable {
  typealias Waiting = CheckedContinuation<Void, any Error>

  private struct State: Sendable {
    var waiting: Waiting?
    var timer: Disposable?
    var isAwake = false
  }

  private let state = Locked(State())

  /// Whether it may fall asleep; if its cancellation came first, it is woken here.
  func sleeps(_ continuation: Waiting) -> Bool {
    let isAwake = state.withLock { state in
      if !state.isAwake { state.waiting = continuation }
      return state.isAwake
    }
    if isAwake { continuation.resume(throwing: CancellationError()) }
    return !isAwake
  }

  func keep(_ timer: Disposable) {
    let isAwake = state.withLock { state in
      if !state.isAwake { state.timer = timer }
      return state.isAwake
    }
    if isAwake { timer.dispose() }
  }

  func wake(_ result: Result<Void, any Error>) {
    let (waiting, timer) = state.withLock { state in
      let taken = (state.waiting, state.timer)
      state = State(isAwake: true)
      return taken
    }
    waiting?.resume(with: result)
    timer?.dispose()
  }
}
