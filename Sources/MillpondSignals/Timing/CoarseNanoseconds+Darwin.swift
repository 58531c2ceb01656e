#if canImport(Darwin)
  import Darwin

  /// Nanoseconds since the system started, those in which it slept included.
  func coarseNanoseconds() -> Int64 {
    Int64(clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX))
  }
#endif
