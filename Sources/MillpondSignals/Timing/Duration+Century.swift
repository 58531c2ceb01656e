extension Duration {
  /// This duration, clamped between zero and a hundred years.
  ///
  /// The longest time that anything waits for. A sum of such a time and a reading of a clock never
  /// overflows, and every clock can sleep for it.
  @inlinable
  package var withinCentury: Duration {
    min(max(.zero, self), .seconds(100 * 366 * 86_400 as Int64))
  }
}
