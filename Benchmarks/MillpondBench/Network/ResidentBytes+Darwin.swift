#if canImport(Darwin)
  /// Not measured here.
  func residentBytes() -> Int? {
    nil
  }

  /// Not measured here.
  func peakBytes() -> Int? {
    nil
  }

  /// Nothing is remembered here.
  func forgetPeak() {}

  /// Not needed here.
  func giveBackFree() {}
#endif
