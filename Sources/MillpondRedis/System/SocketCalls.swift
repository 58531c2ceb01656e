#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Thin wrappers of the system's calls on sockets; no other file of the module imports the C
/// library.
enum SocketCalls {
  /// The result of one attempt to move bytes.
  enum Transfer {
    case moved(Int)
    case wouldBlock
    case failed(Int32)
  }

  static func message(for code: Int32) -> String { String(cString: strerror(code)) }

  static func failure(in call: String) -> RedisError { .system(call: call, code: errno) }

  // MARK: Sockets

  /// Opens a non-blocking stream that child processes don't inherit and that raises no signal.
  static func open(family: Int32) throws(RedisError) -> Int32 {
    var descriptors = [socket(family, streamType, 0)]
    guard descriptors[0] >= 0 else { throw failure(in: "socket") }
    try configure(&descriptors)
    silenceSignal(descriptors[0])
    return descriptors[0]
  }

  /// Makes descriptors block no thread and pass to no child process; closes them all on a failure.
  ///
  /// They are moved beyond those of the standard streams: in a process without these, whatever is
  /// printed would go to the server.
  private static func configure(_ descriptors: inout [Int32]) throws(RedisError) {
    for place in descriptors.indices {
      let first = descriptors[place]
      if first < 3 {
        descriptors[place] = fcntl(first, F_DUPFD_CLOEXEC, 3)
        let failure = failure(in: "fcntl")
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
  static func sendSmallPiecesAtOnce(_ descriptor: Int32) {
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
  }

  /// Begins to connect; the socket can be written to when it is connected, or has failed.
  static func connect(_ descriptor: Int32, to address: [UInt8]) throws(RedisError) {
    let result = address.withUnsafeBytes { bytes in
      systemConnect(
        descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
        socklen_t(bytes.count))
    }
    if result != 0, errno != EINPROGRESS, errno != EINTR { throw failure(in: "connect") }
  }

  /// Returns the failure of a connection that was begun; nil if it is connected.
  static func connectFailure(_ descriptor: Int32) -> RedisError? {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else {
      return failure(in: "getsockopt")
    }
    return code == 0 ? nil : .system(call: "connect", code: code)
  }

  static func receive(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) -> Transfer {
    transfer { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
  }

  static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
    transfer { systemSend(descriptor, bytes.baseAddress, bytes.count, withoutSignal) }
  }

  static func endBothWays(_ descriptor: Int32) { _ = shutdown(descriptor, bothWays) }

  // Not repeated when interrupted: the number may have been assigned again.
  static func close(_ descriptor: Int32) { systemClose(descriptor) }

  private static func transfer(_ call: () -> Int) -> Transfer {
    while true {
      let moved = call()
      if moved >= 0 { return .moved(moved) }
      if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
      if errno != EINTR { return .failed(errno) }
    }
  }

  // MARK: Waiting

  /// Opens a pipe whose ends block no thread.
  static func openPipe() throws(RedisError) -> (readEnd: Int32, writeEnd: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure(in: "pipe") }
    try configure(&ends)
    return (ends[0], ends[1])
  }

  static func writeByte(_ descriptor: Int32) {
    var byte: UInt8 = 1
    _ = transfer { write(descriptor, &byte, 1) }
  }

  /// Reads what a pipe has, so that it is empty.
  static func drain(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
      while case .moved(256) = transfer({ read(descriptor, buffer.baseAddress, buffer.count) }) {}
    }
  }

  /// A descriptor, and what is waited for and seen.
  struct Watch {
    let descriptor: Int32
    var isWriting = false
    var isReadable = false
    var isWritable = false
  }

  /// Waits for one of the descriptors, at most so many nanoseconds; nil for no limit.
  ///
  /// `poll`, since a client has a handful of descriptors: epoll and kqueue are faster for hundreds
  /// only, and need a call whenever the interest in writing changes.
  static func wait(for watches: inout [Watch], atMost nanoseconds: Int64?) {
    // Rounded up, because a wait that ends early would be followed by a spin.
    let milliseconds = nanoseconds.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: watches.count) { entries in
      for (place, watch) in watches.enumerated() {
        let events = Int16(POLLIN) | (watch.isWriting ? Int16(POLLOUT) : 0)
        entries.initializeElement(
          at: place, to: pollfd(fd: watch.descriptor, events: events, revents: 0))
      }
      let found = poll(entries.baseAddress, nfds_t(entries.count), milliseconds)
      for place in watches.indices {
        let seen = found > 0 ? Int32(entries[place].revents) : 0
        // An error or a hang-up shows in the read that follows, or in the result of the connection.
        watches[place].isReadable = seen & ~Int32(POLLOUT) != 0
        watches[place].isWritable = seen & ~Int32(POLLIN) != 0
      }
    }
  }
}

private func systemConnect(
  _ descriptor: Int32, _ address: UnsafePointer<sockaddr>?, _ size: socklen_t
) -> Int32 {
  guard let address else { return -1 }
  return connect(descriptor, address, size)
}

private func systemSend(
  _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
) -> Int {
  send(descriptor, bytes, count, flags)
}

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }
