#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An address of a socket, as the system's calls take it.
package struct SocketAddress: Sendable, Equatable {
  package let family: Int32
  package let bytes: [UInt8]

  /// Returns the address of a Unix socket; nil if the path is too long for the system.
  package static func unix(path: String) -> SocketAddress? {
    let path = Array(path.utf8)
    let room = MemoryLayout<sockaddr_un>.size - 2
    guard path.count < room, !path.contains(0) else { return nil }
    let head = unixHead(length: 2 + path.count + 1)
    return SocketAddress(family: Int32(AF_UNIX), bytes: head + path + [0])
  }

  /// Returns the address of a port of 127.0.0.1; with zero, the system chooses one.
  package static func loopback(port: UInt16) -> SocketAddress {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    return SocketAddress(family: AF_INET, bytes: withUnsafeBytes(of: &address) { Array($0) })
  }

  /// Returns the addresses of a host, in the order in which they should be tried.
  ///
  /// The call blocks while the name is looked up.
  package static func addresses(of host: String, port: UInt16) -> [SocketAddress] {
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
