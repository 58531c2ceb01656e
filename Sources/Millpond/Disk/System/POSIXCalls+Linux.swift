#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if os(Linux)
  extension POSIXCalls {
    private typealias Call =
      @convention(c) (Int32, UnsafePointer<iovec>?, Int32, off_t, Int32) -> Int

    private static let call: Call? = dlsym(nil, "preadv2").map { unsafeBitCast($0, to: Call.self) }
    private static let noWaiting: Int32 = 8

    /// Reads from the kernel's memory without waiting.
    ///
    /// - Source: preadv2(2), `RWF_NOWAIT`. Looked up at run time, since the C library's module does
    ///   not export it.
    func readNow(
      _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
    ) -> Int? {
      guard let call = Self.call else { return nil }
      var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
      let count = call(descriptor, &part, 1, off_t(offset), Self.noWaiting)
      return count >= 0 ? count : nil
    }

    private typealias StatusCall =
      @convention(c) (Int32, UnsafeMutableRawPointer?) -> Int32

    private static let statusCall: StatusCall? =
      dlsym(nil, "fstatfs").map { unsafeBitCast($0, to: StatusCall.self) }

    /// Whether the file is on a `tmpfs`.
    ///
    /// - Source: statfs(2); the type is the first word of the structure, which takes 120 bytes.
    func isInMemory(_ descriptor: Int32) -> Bool {
      guard let statusCall = Self.statusCall else { return false }
      return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { status in
        statusCall(descriptor, status.baseAddress) == 0
          && status.loadUnaligned(as: Int.self) == 0x0102_1994
      }
    }
  }

  func synchronizeData(_ descriptor: Int32) -> Int32 { fdatasync(descriptor) }
#endif
