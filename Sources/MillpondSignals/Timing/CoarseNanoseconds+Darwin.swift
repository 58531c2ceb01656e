#if canImport(Darwin)
  import Darwin

  /// Returns the nanoseconds since the system started, including its sleep.
  func coarseNanoseconds() -> Int64 {
    Int64(clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX))
  }

  /// Returns the nanoseconds since the system started, including its sleep, at full resolution.
  func exactNanoseconds() -> Int64 {
    Int64(clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW))
  }
#endif
