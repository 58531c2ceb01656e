extension Signal {
  /// Sends all values as one array, in order, when the signal completes.
  ///
  /// Without a value the array is empty. A failure passes, and what was collected is dropped.
  @inlinable
  public func collect() -> Signal<[Value]> {
    reducing(into: []) { $0.append($1) }
  }
}
