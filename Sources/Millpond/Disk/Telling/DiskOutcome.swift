import MillpondCore
import MillpondSignals

/// How a telling ends, for those who ask before and after.
///
/// Sendable because what can change is touched only behind the gate.
final class DiskOutcome: @unchecked Sendable {
  private let gate = Gate()
  private var result: Result<Void, CacheError>?
  private var waiting: ContiguousArray<Observer<Void>> = []

  /// Whether it is a fill that was admitted, or one that was not; nil for a write.
  ///
  /// Set before anybody asks for the signal.
  var isAdmittedFill: Bool?

  /// Sends a value when it is on disk, or fails; to dispose of it cancels nothing.
  ///
  /// A fill sends its value when it has been admitted, and none if it was refused.
  var signal: Signal<Void> {
    Signal { [isAdmittedFill] downstream, _ in
      if isAdmittedFill == true { downstream.next(()) }
      let observer = isAdmittedFill == nil ? downstream : downstream.replacingNext { _ in }
      let result = self.gate.withLock {
        if self.result == nil { self.waiting.append(observer) }
        return self.result
      }
      if let result { observer.end(with: result) }
    }
  }

  /// Ends it, once.
  ///
  /// - Returns: What calls those who wait, if anybody does.
  func end(with result: Result<Void, CacheError>) -> (@Sendable () -> Void)? {
    let waiting = gate.withLock { () -> ContiguousArray<Observer<Void>> in
      guard self.result == nil else { return [] }
      self.result = result
      defer { self.waiting = [] }
      return self.waiting
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
