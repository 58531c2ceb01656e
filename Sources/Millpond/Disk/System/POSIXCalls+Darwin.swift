#if canImport(Darwin)
  import Darwin

  /// There is no call here that says whether a read would wait.
  enum ReadNow {
    static func read(
      _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
    ) -> Int? {
      nil
    }

    static func isInMemory(_ descriptor: Int32) -> Bool { false }
  }

  /// Beyond the device's own cache, which `fsync` does not reach here.
  func synchronizeData(_ descriptor: Int32) -> Int32 {
    fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor)
  }
#endif
