#if canImport(Darwin)
  /// Returns zero: the number of this thread's preemptions is not known on this system.
  func preemptionsOfThread() -> Int {
    0
  }
#endif
