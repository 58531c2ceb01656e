#if canImport(Darwin)
  import Darwin

  /// How many bytes `malloc` has given out and not got back.
  func heapUse() -> Int? {
    var statistics = malloc_statistics_t()
    malloc_zone_statistics(nil, &statistics)
    return statistics.size_in_use
  }
#endif
