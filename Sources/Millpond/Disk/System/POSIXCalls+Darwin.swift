#if canImport(Darwin)
  import Darwin

  extension POSIXCalls {
    /// Returns nil, since no call on this platform reads without waiting.
    func readNow(
      _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
    ) -> Int? {
      nil
    }

    func isInMemory(_ descriptor: Int32) -> Bool { false }
  }

  /// Synchronizes the device's own cache too, which `fsync` does not reach here.
  func synchronizeData(_ descriptor: Int32) -> Int32 {
    fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor)
  }
#endif
