extension Signal {
  /// Goes on with another signal if this one fails, whether or not it sent values.
  ///
  /// - Parameter replacement: Is given the failure; fail with it again to let it pass. It is not asked
  ///   for one that is nested too deeply, see ``SignalError/nestedTooDeeply``.
  @inlinable
  public func recover(_ replacement: @escaping @Sendable (any Error) -> Signal) -> Signal {
    followed { end, _ in
      if case .failed(let error) = end { replacement(error) } else { nil }
    }
  }
}
