#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Thin wrappers of the system's calls on sockets.
package enum SocketCalls {
  /// The result of one attempt to move bytes.
  package enum Transfer {
    case moved(Int)
    case wouldBlock
    case failed(Int32)
  }

  package static var lastError: Int32 { errno }

  package static func message(for code: Int32) -> String { String(cString: strerror(code)) }

  // MARK: Sockets

  /// Opens a non-blocking stream that child processes don't inherit and that raises no signal.
  package static func open(family: Int32) throws(SocketError) -> Int32 {
    var descriptors = [socket(family, streamType, 0)]
    guard descriptors[0] >= 0 else { throw SocketError(in: "socket") }
    try configure(&descriptors)
    silenceSignal(descriptors[0])
    return descriptors[0]
  }

  /// Makes descriptors block no thread and pass to no child process; closes them all on a failure.
  ///
  /// They are moved beyond those of the standard streams: in a process without these, whatever is
  /// printed would go to the server.
  static func configure(_ descriptors: inout [Int32]) throws(SocketError) {
    for place in descriptors.indices {
      let first = descriptors[place]
      if first < 3 {
        descriptors[place] = fcntl(first, F_DUPFD_CLOEXEC, 3)
        let failure = SocketError(in: "fcntl")
        close(first)
        if descriptors[place] < 0 {
          for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
          throw failure
        }
      }
      _ = fcntl(descriptors[place], F_SETFL, fcntl(descriptors[place], F_GETFL) | O_NONBLOCK)
      _ = fcntl(descriptors[place], F_SETFD, FD_CLOEXEC)
    }
  }

  /// Makes small pieces leave at once; a failure, as with a Unix socket, changes nothing.
  package static func sendSmallPiecesAtOnce(_ descriptor: Int32) {
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
  }

  /// Begins to connect; the socket can be written to when it is connected, or has failed.
  package static func connect(
    _ descriptor: Int32, to address: SocketAddress
  ) throws(SocketError) {
    let result = address.withPointer { systemConnect(descriptor, $0, $1) }
    if result != 0, errno != EINPROGRESS, errno != EINTR { throw SocketError(in: "connect") }
  }

  /// Returns the failure of a connection that was begun; nil if it is connected.
  package static func connectFailure(_ descriptor: Int32) -> SocketError? {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else {
      return SocketError(in: "getsockopt")
    }
    return code == 0 ? nil : SocketError(in: "connect", code: code)
  }

  package static func receive(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) -> Transfer {
    transfer { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
  }

  package static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
    transfer { systemSend(descriptor, bytes.baseAddress, bytes.count, withoutSignal) }
  }

  /// Ends both directions, so that waits, reads and writes of other threads end.
  package static func endBothWays(_ descriptor: Int32) { _ = shutdown(descriptor, bothWays) }

  static func endWriting(_ descriptor: Int32) { _ = shutdown(descriptor, writingWay) }

  /// Makes the next close send a reset instead of an orderly end.
  static func resetOnClose(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  // Not repeated when interrupted: the number may have been assigned again.
  package static func close(_ descriptor: Int32) { systemClose(descriptor) }

  static func transfer(_ call: () -> Int) -> Transfer {
    while true {
      let moved = call()
      if moved >= 0 { return .moved(moved) }
      if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
      if errno != EINTR { return .failed(errno) }
    }
  }

  // MARK: Listening

  package static func bind(
    _ descriptor: Int32, to address: SocketAddress
  ) throws(SocketError) {
    if address.withPointer({ systemBind(descriptor, $0, $1) }) != 0 {
      throw SocketError(in: "bind")
    }
  }

  /// - Parameter length: The number of connections that may wait to be accepted; nil for the
  ///   system's maximum.
  package static func listen(
    _ descriptor: Int32, queue length: Int32? = nil
  ) throws(SocketError) {
    if systemListen(descriptor, length ?? SOMAXCONN) != 0 { throw SocketError(in: "listen") }
  }

  /// Returns the port of 127.0.0.1 to which a socket is bound.
  static func boundPort(_ descriptor: Int32) throws(SocketError) -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failed = withUnsafeMutableBytes(of: &address) { bytes in
      getsockname(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
    }
    if failed != 0 { throw SocketError(in: "getsockname") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Returns the next connection, if one is waiting, as ``open(family:)`` does.
  static func accept(_ descriptor: Int32) -> Int32? {
    var accepted = [Int32(-1)]
    repeat {
      accepted[0] = systemAccept(descriptor)
    } while accepted[0] < 0 && errno == EINTR
    guard accepted[0] >= 0, (try? configure(&accepted)) != nil else { return nil }
    silenceSignal(accepted[0])
    sendSmallPiecesAtOnce(accepted[0])
    return accepted[0]
  }
}

extension SocketAddress {
  fileprivate func withPointer(
    _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    bytes.withUnsafeBytes { bytes in
      guard let start = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
      return call(start, socklen_t(bytes.count))
    }
  }
}

// The platform's calls, whose names the methods above hide.

private func systemConnect(
  _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t
) -> Int32 {
  connect(descriptor, address, size)
}

private func systemBind(
  _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t
) -> Int32 {
  bind(descriptor, address, size)
}

private func systemListen(_ descriptor: Int32, _ length: Int32) -> Int32 {
  listen(descriptor, length)
}

private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }

private func systemSend(
  _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
) -> Int {
  send(descriptor, bytes, count, flags)
}

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }
