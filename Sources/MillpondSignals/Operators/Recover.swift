extension Signal {
  /// Continues with another signal if this one fails, whether or not it sent values.
  ///
  /// - Parameter replacement: Receives the failure; returns a signal that fails with it again to
  ///   let it pass.
  @inlinable
  public func recover(_ replacement: @escaping @Sendable (any Error) -> Signal) -> Signal {
    followed { end, _ in
      if case .failed(let error) = end { replacement(error) } else { nil }
    }
  }

  /// Changes a failure; values, progress and completion pass unchanged.
  @inlinable
  package func mapFailure(_ change: @escaping @Sendable (any Error) -> any Error) -> Signal {
    guard let start else { return self }
    return derived(now: now) { observer, lifetime in
      start(
        observer.replacingOther { event in
          if case .failed(let error) = event { return observer.failed(change(error)) }
          observer.other(event)
        }, lifetime)
    }
  }
}
