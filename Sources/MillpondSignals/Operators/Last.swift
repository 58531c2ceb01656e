extension Signal {
  /// Sends the last value that satisfies `isWanted` when the signal completes.
  ///
  /// Completes without a value if none does. A failure passes, and the value is dropped.
  ///
  /// - Parameter isWanted: By default any value will do.
  @inlinable
  public func last(
    where isWanted: @escaping @Sendable (Value) -> Bool = { _ in true }
  ) -> Signal {
    reducing(into: Value?.none) { if isWanted($1) { $0 = $1 } }.compactMap { $0 }
  }
}
