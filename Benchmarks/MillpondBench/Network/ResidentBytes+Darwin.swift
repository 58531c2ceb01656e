#if canImport(Darwin)
  /// Not measured here.
  func residentBytes() -> Int? {
    nil
  }

  /// Not measured here.
  func peakBytes() -> Int? {
    nil
  }

  /// Does nothing: no peak is measured on this system.
  func forgetPeak() {}

  /// Does nothing: growth is not measured on this system.
  func giveBackFree() {}
#endif
