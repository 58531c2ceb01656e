import MillpondSignals

/// A gate at which closures of a composition wait, while the program says so.
final class HistoryGate: Sendable {
  private struct State: Sendable {
    var isClosed = false

    /// In the order in which they came.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())
  private let onChange: @Sendable () -> Void

  init(onChange: @escaping @Sendable () -> Void) {
    self.onChange = onChange
  }

  /// The number of closures that wait.
  var count: Int {
    state.withLock { $0.waiting.count }
  }

  /// Waits if the gate is closed; cancellation is ignored.
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

  /// Closes the gate, or opens it for those that come later.
  func close(_ isClosed: Bool) {
    state.withLock { $0.isClosed = isClosed }
  }

  /// Lets one of those that wait go on; false if there is none.
  func release(_ pick: Int) -> Bool {
    let one = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty { return nil }
      return state.waiting.remove(at: pick % state.waiting.count)
    }
    one?.resume()
    return one != nil
  }
}
