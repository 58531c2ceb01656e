#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An address to which a socket connects, as the system's calls take it.
struct SocketAddress: Sendable, Equatable {
  let family: Int32
  let bytes: [UInt8]

  /// Returns the address of a Unix socket.
  static func unix(path: String) throws(RedisError) -> SocketAddress {
    let path = Array(path.utf8)
    let room = MemoryLayout<sockaddr_un>.size - 2
    guard path.count < room, !path.contains(0) else {
      throw .pathTooLong(String(decoding: path, as: UTF8.self))
    }
    let head = unixHead(length: 2 + path.count + 1)
    return SocketAddress(family: Int32(AF_UNIX), bytes: head + path + [0])
  }

  /// Returns the addresses of a host, in the order in which they should be tried.
  ///
  /// The call blocks while the name is looked up.
  static func addresses(of host: String, port: UInt16) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = SocketCalls.streamType
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    var addresses: [SocketAddress] = []
    var next = first
    while let info = next {
      let bytes = UnsafeRawBufferPointer(
        start: info.pointee.ai_addr, count: Int(info.pointee.ai_addrlen))
      addresses.append(SocketAddress(family: info.pointee.ai_family, bytes: Array(bytes)))
      next = info.pointee.ai_next
    }
    return addresses
  }
}
