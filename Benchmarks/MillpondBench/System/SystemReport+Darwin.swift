#if canImport(Darwin)
  import Darwin

  /// The figures of this process from the system; nil or zero where it has none.
  enum SystemReport {
    static let residentBytes: Int? = nil
    static let peakBytes: Int? = nil
    static let writtenBytes: Int? = nil
    static let preemptionsOfThread = 0

    static func forgetPeak() {}
    static func giveBackFree() {}

    /// Returns false: such folders are rare on this system.
    static func isMemory(_ folder: String) -> Bool { false }

    /// The number of bytes that `malloc` has allocated and that were not freed.
    static var heapBytes: Int? {
      var statistics = malloc_statistics_t()
      malloc_zone_statistics(nil, &statistics)
      return statistics.size_in_use
    }

    /// The name of the processor; nil if the system does not tell it.
    static var processorName: String? {
      var size = 0
      guard sysctlbyname("machdep.cpu.brand_string", nil, &size, nil, 0) == 0, size > 0 else {
        return nil
      }
      var name = [UInt8](repeating: 0, count: size)
      guard sysctlbyname("machdep.cpu.brand_string", &name, &size, nil, 0) == 0 else { return nil }
      return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
#endif
