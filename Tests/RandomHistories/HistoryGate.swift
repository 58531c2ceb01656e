import MillpondSignals

/// A gate at which closures of a composition wait while it is closed.
final class HistoryGate: Sendable {
  private struct State: Sendable {
    var isClosed = false

    /// The waiting closures, in order of arrival.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())
  private let onChange: @Sendable () -> Void

  init(onChange: @escaping @Sendable () -> Void) {
    self.onChange = onChange
  }

  /// The number of waiting closures.
  var count: Int {
    state.withLock { $0.waiting.count }
  }

  /// Waits if the gate is closed; ignores cancellation.
  func pass() async {
    guard state.withLock({ $0.isClosed }) else { return }
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isClosed { return true }
        state.waiting.append(continuation)
        return false
      }
      if isOpen { continuation.resume() }
      onChange()
    }
  }

  /// Closes the gate, or opens it for later closures.
  func close(_ isClosed: Bool) {
    state.withLock { $0.isClosed = isClosed }
  }

  /// Lets one waiting closure continue; returns false if there is none.
  func release(_ pick: Int) -> Bool {
    let one = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty { return nil }
      return state.waiting.remove(at: pick % state.waiting.count)
    }
    one?.resume()
    return one != nil
  }
}
