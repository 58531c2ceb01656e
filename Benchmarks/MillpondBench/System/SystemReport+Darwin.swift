#if canImport(Darwin)
  import Darwin

  /// The figures of this process from the system; nil or zero where it has none.
  enum SystemReport {
    static let residentBytes: Int? = nil
    static let peakBytes: Int? = nil
    static let preemptionsOfThread = 0

    static func forgetPeak() {}
    static func giveBackFree() {}

    /// Returns false: such folders are rare on this system.
    static func isMemory(_ folder: String) -> Bool { false }
  }
#endif
