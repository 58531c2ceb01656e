#if canImport(Darwin)
  import Darwin

  extension SocketCalls {
    static var streamType: Int32 { SOCK_STREAM }
    static var withoutSignal: Int32 { 0 }
    static var bothWays: Int32 { SHUT_RDWR }
    static var writingWay: Int32 { SHUT_WR }
    static var hangUpInterest: Int32 { POLLHUP }

    /// Returns nanoseconds since an unknown start.
    package static func now() -> Int64 { Int64(clamping: clock_gettime_nsec_np(CLOCK_UPTIME_RAW)) }

    static func silenceSignal(_ descriptor: Int32) {
      var on: Int32 = 1
      let size = socklen_t(MemoryLayout<Int32>.size)
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, size)
    }
  }

  extension SocketAddress {
    /// Returns the bytes of a Unix address without its path: a length, and the family.
    static func unixHead(length: Int) -> [UInt8] {
      [UInt8(clamping: length), UInt8(AF_UNIX)]
    }
  }
#endif
