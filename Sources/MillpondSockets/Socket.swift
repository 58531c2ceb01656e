/// A non-blocking socket that is closed once.
///
/// One thread owns it; only ``shutDown()`` may be called from other threads.
package final class Socket: Sendable {
  private struct Status: Sendable {
    var isOpen = true
    var isShutDown = false
  }

  private let descriptor: Int32
  private let status = Monitor(Status())

  private init(owning descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit { close() }

  /// Whether ``shutDown()`` has ended the connection.
  package var isShutDown: Bool { status.withLock { $0.isShutDown } }

  /// Ends both directions, so that a wait, send or receive of the owner ends too.
  func shutDown() {
    status.withLock {
      guard $0.isOpen else { return }
      $0.isShutDown = true
      SocketCalls.endBothWays(descriptor)
    }
  }

  // Under the lock, so that a late `shutDown()` cannot hit a descriptor that was assigned again.
  func close() {
    status.withLock {
      guard $0.isOpen else { return }
      $0.isOpen = false
      SocketCalls.close(descriptor)
    }
  }
}

// MARK: - Listening

extension Socket {
  /// Returns a listener on 127.0.0.1, and the port that the system chose.
  ///
  /// - Parameter length: The number of connections that may wait to be accepted; nil for the
  ///   system's maximum.
  package static func listening(
    queue length: Int32? = nil
  ) throws(SocketError) -> (socket: Socket, port: UInt16) {
    let (socket, port) = try bound()
    try SocketCalls.listen(socket.descriptor, queue: length)
    return (socket, port)
  }

  /// Returns a socket on 127.0.0.1 that does not listen, and the port that the system chose.
  package static func bound() throws(SocketError) -> (socket: Socket, port: UInt16) {
    let address = SocketAddress.loopback(port: 0)
    let socket = Socket(owning: try SocketCalls.open(family: address.family))
    try SocketCalls.bind(socket.descriptor, to: address)
    return (socket, try SocketCalls.boundPort(socket.descriptor))
  }

  /// Returns a connection to a port of 127.0.0.1; nil if it is not completed within 50 ms.
  package static func connected(to port: UInt16) throws(SocketError) -> Socket? {
    let address = SocketAddress.loopback(port: port)
    let socket = Socket(owning: try SocketCalls.open(family: address.family))
    try SocketCalls.connect(socket.descriptor, to: address)
    return socket.look(reading: false, writing: true, timeout: .milliseconds(50)).isWritable
      ? socket : nil
  }

  /// Returns the next connection, if one is waiting.
  func accept() -> Socket? {
    SocketCalls.accept(descriptor).map(Socket.init)
  }
}

// MARK: - Talking

extension Socket {
  /// The state of a connection and its wake-up pipe after one wait.
  struct Readiness {
    let isReadable: Bool
    let isWritable: Bool
    let isHungUp: Bool
    let isWoken: Bool
  }

  /// Waits once, without a timeout indefinitely; may report nothing ready.
  func look(
    reading: Bool, writing: Bool = false, wake: WakePipe? = nil, timeout: Duration?
  ) -> Readiness {
    var socket = SocketCalls.Watch(descriptor: descriptor, isReading: reading, isWriting: writing)
    socket.seesHangUp = true
    var watches = [socket, SocketCalls.Watch(descriptor: wake?.descriptor ?? -1)]
    let limit = timeout.map { min(max($0, .zero), .seconds(1_000_000)) / .nanoseconds(1) }
    SocketCalls.wait(for: &watches, atMost: limit.map { Int64($0) })
    return Readiness(
      isReadable: watches[0].hasBytes, isWritable: watches[0].hasRoom,
      isHungUp: watches[0].isHungUp, isWoken: watches[1].isReadable)
  }

  /// Appends at most `limit` of the bytes that have arrived.
  func receive(_ limit: Int, into input: inout [UInt8]) -> SocketCalls.Transfer {
    withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
      let result = SocketCalls.receive(descriptor, into: buffer)
      if case .moved(let count) = result { input.append(contentsOf: buffer.prefix(count)) }
      return result
    }
  }

  /// Sends as many of the first `bytes` as there is room for.
  func send(_ bytes: ArraySlice<UInt8>) -> SocketCalls.Transfer {
    bytes.withUnsafeBytes { SocketCalls.send(descriptor, $0) }
  }

  /// Ends the sending direction.
  func endWriting() { SocketCalls.endWriting(descriptor) }

  /// Closes with a reset.
  func reset() {
    SocketCalls.resetOnClose(descriptor)
    close()
  }
}
