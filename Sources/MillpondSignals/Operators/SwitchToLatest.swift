extension Signal {
  /// Sends what the newest of the signals sends that come as values: the older one is disposed of.
  ///
  /// Completes when the newest one and this have; the first failure ends everything. Progress is
  /// the newest one's, and this signal's while none runs.
  @inlinable
  public func switchToLatest<Inner>() -> Signal<Inner> where Value == Signal<Inner> {
    flatMap(.latest) { $0 }
  }
}
