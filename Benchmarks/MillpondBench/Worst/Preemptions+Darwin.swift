#if canImport(Darwin)
  /// How often this thread had to leave the processor to others: not known here.
  func preemptionsOfThread() -> Int {
    0
  }
#endif
