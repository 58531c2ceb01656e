#if canImport(Darwin)
  /// Not measured here.
  func residentBytes() -> Int? {
    nil
  }
#endif
