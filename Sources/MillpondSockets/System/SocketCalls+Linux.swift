#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if canImport(Glibc)
  extension SocketCalls {
    static var streamType: Int32 { Int32(SOCK_STREAM.rawValue) }
  }
#elseif canImport(Musl)
  extension SocketCalls {
    static var streamType: Int32 { SOCK_STREAM }
  }
#endif

#if canImport(Glibc) || canImport(Musl)
  extension SocketCalls {
    static var withoutSignal: Int32 { Int32(MSG_NOSIGNAL) }
    static var bothWays: Int32 { Int32(SHUT_RDWR) }
    static var writingWay: Int32 { Int32(SHUT_WR) }
    static var hangUpInterest: Int32 { 0x2000 }  // POLLRDHUP, which Swift does not see

    /// Returns nanoseconds since an unknown start.
    package static func now() -> Int64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func silenceSignal(_ descriptor: Int32) {}
  }

  extension SocketAddress {
    /// Returns the bytes of a Unix address without its path.
    static func unixHead(length: Int) -> [UInt8] {
      withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) }
    }
  }
#endif
