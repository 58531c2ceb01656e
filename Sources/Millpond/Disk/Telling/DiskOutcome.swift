import MillpondCore
import MillpondSignals

/// How a telling ends, for those who ask before and after.
final class DiskOutcome: Sendable {
  private let state = Locked(State())

  private struct State: Sendable {
    var result: Result<Void, CacheError>?
    var waiting: ContiguousArray<Observer<Void>> = []
  }

  /// Sends a value when it is on disk, or fails; to dispose of it cancels nothing.
  var signal: Signal<Void> {
    Signal { observer, _ in
      let result = self.state.withLock { state in
        if state.result == nil { state.waiting.append(observer) }
        return state.result
      }
      if let result { observer.end(with: result) }
    }
  }

  /// Ends it, once.
  ///
  /// - Returns: What calls those who wait, if anybody does.
  func end(with result: Result<Void, CacheError>) -> (@Sendable () -> Void)? {
    let waiting = state.withLock { state -> ContiguousArray<Observer<Void>> in
      guard state.result == nil else { return [] }
      state.result = result
      defer { state.waiting = [] }
      return state.waiting
    }
    if waiting.isEmpty { return nil }
    return {
      for observer in waiting { observer.end(with: result) }
    }
  }
}

extension Observer where Value == Void {
  func end(with result: Result<Void, CacheError>) {
    switch result {
    case .success:
      next(())
      completed()
    case .failure(let error): failed(error)
    }
  }
}
