extension Duration {
  /// This duration, clamped between zero and a hundred years, so that no computation of a limit
  /// overflows.
  var withinCentury: Duration {
    min(max(.zero, self), .seconds(100 * 366 * 86_400))
  }
}
