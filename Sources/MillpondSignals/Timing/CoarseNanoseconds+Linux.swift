#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if canImport(Glibc) || canImport(Musl)
  /// Returns the nanoseconds since the system started, without its sleep.
  ///
  /// No coarse clock of this system includes sleep.
  func coarseNanoseconds() -> Int64 {
    nanoseconds(CLOCK_MONOTONIC_COARSE)
  }

  /// Returns the nanoseconds since the system started, including its sleep, at full resolution.
  func exactNanoseconds() -> Int64 {
    nanoseconds(CLOCK_BOOTTIME)
  }

  private func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
#endif
