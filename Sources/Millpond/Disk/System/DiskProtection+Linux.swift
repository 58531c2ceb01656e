#if os(Linux)
  extension DiskProtection {
    /// There are no such classes here.
    func apply(to folder: String) throws {}
  }
#endif
