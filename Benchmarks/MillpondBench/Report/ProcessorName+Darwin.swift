#if canImport(Darwin)
  import Darwin

  /// Returns the name of the processor; nil if the system does not tell it.
  func processorName() -> String? {
    var size = 0
    guard sysctlbyname("machdep.cpu.brand_string", nil, &size, nil, 0) == 0, size > 0 else {
      return nil
    }
    var name = [UInt8](repeating: 0, count: size)
    guard sysctlbyname("machdep.cpu.brand_string", &name, &size, nil, 0) == 0 else { return nil }
    return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
  }
#endif
