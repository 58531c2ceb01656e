import MillpondSignals

/// Listeners that are called at once, on the same thread, when everything is removed from a cache.
final class RemovalListeners: Sendable {
  private struct State: Sendable {
    var listeners: [Int: @Sendable () -> Void] = [:]
    var lastNumber = 0
  }

  private let state = Locked(State())

  /// Adds a listener, until the handle is disposed of.
  func add(_ listener: @escaping @Sendable () -> Void) -> Disposable {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.listeners[state.lastNumber] = listener
      return state.lastNumber
    }
    return Disposable { [state] in
      _ = state.withLock { $0.listeners.removeValue(forKey: number) }
    }
  }

  func call() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener() }
  }
}
