#if canImport(Darwin)
  import Darwin

  /// Returns the number of bytes that `malloc` has allocated and that were not freed.
  func heapUse() -> Int? {
    var statistics = malloc_statistics_t()
    malloc_zone_statistics(nil, &statistics)
    return statistics.size_in_use
  }
#endif
