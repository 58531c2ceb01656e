extension Signal {
  /// Goes on with `fallback` if this completes without a value.
  @inlinable
  public func ifEmpty(_ fallback: @escaping @Sendable () -> Signal) -> Signal {
    followed { end, hadValue in
      if case .completed = end, !hadValue { fallback() } else { nil }
    }
  }

  /// Goes on with `fallback` if this ends without a value, however it ends.
  ///
  /// A failure after a value ends the signal as it is. This is the operator of layering.
  ///
  /// - Parameter fallback: Is given the failure, or nil if this completed.
  @inlinable
  public func ifNoValue(_ fallback: @escaping @Sendable ((any Error)?) -> Signal) -> Signal {
    followed { end, hadValue in
      if hadValue { return nil }
      if case .failed(let error) = end { return fallback(error) }
      return fallback(nil)
    }
  }
}
