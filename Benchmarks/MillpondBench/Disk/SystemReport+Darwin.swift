#if canImport(Darwin)
  /// Nil: it isn't told here.
  func writtenBytes() -> Int? {
    nil
  }

  /// No: such folders are rare here.
  func isMemory(_ folder: String) -> Bool {
    false
  }
#endif
