#if canImport(Darwin)
  /// Returns nil: the system does not report it.
  func writtenBytes() -> Int? {
    nil
  }

  /// Returns false: such folders are rare on this system.
  func isMemory(_ folder: String) -> Bool {
    false
  }
#endif
