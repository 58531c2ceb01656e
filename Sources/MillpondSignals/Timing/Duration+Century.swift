extension Duration {
  /// This duration, between zero and the seconds of an `Int64`, so that its sum with a reading of a
  /// clock does not overflow.
  @inlinable
  package var addable: Duration {
    min(max(.zero, self), .seconds(Int64.max))
  }

  /// This duration, between zero and a hundred years, for which every clock can sleep.
  @inlinable
  package var withinCentury: Duration {
    min(max(.zero, self), .seconds(100 * 366 * 86_400 as Int64))
  }
}
