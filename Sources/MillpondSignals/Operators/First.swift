extension Signal {
  /// Sends the first value that satisfies `isWanted`, and completes; the upstream is told to stop.
  ///
  /// Completes without a value if none does.
  ///
  /// - Parameter isWanted: By default any value will do.
  @inlinable
  public func first(
    where isWanted: @escaping @Sendable (Value) -> Bool = { _ in true }
  ) -> Signal {
    filter(isWanted).take(1)
  }
}
