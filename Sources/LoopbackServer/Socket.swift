/// A non-blocking socket that is closed once.
///
/// One thread owns it; only ``shutDown()`` may be called from other threads.
final class Socket: Sendable {
  private struct Status: Sendable {
    var isOpen = true
    var isShutDown = false
  }

  private let descriptor: Int32
  private let status = Monitor(Status())

  private init(owning descriptor: Int32) {
    self.descriptor = descriptor
    Platform.configure(descriptor)
  }

  deinit { close() }

  /// Whether ``shutDown()`` has ended the connection.
  var isShutDown: Bool { status.withLock { $0.isShutDown } }

  /// Ends both directions, so that a wait, send or receive of the owner ends too.
  func shutDown() {
    status.withLock {
      guard $0.isOpen else { return }
      $0.isShutDown = true
      Platform.endBothWays(descriptor)
    }
  }

  // Under the lock, so that a late `shutDown()` cannot hit a descriptor that was assigned again.
  func close() {
    status.withLock {
      guard $0.isOpen else { return }
      $0.isOpen = false
      Platform.closeDescriptor(descriptor)
    }
  }
}

// MARK: - Listening

extension Socket {
  /// Returns a listener on 127.0.0.1, and the port that the system chose.
  ///
  /// - Parameter length: The number of connections that may wait to be accepted; nil for the
  ///   system's maximum.
  static func listening(
    queue length: Int32? = nil
  ) throws(SocketError) -> (socket: Socket, port: UInt16) {
    let (socket, port) = try bound()
    guard Platform.startListening(socket.descriptor, queue: length) else {
      throw SocketError(in: "listen")
    }
    return (socket, port)
  }

  /// Returns a socket on 127.0.0.1 that does not listen, and the port that the system chose.
  static func bound() throws(SocketError) -> (socket: Socket, port: UInt16) {
    let descriptor = Platform.openStream()
    guard descriptor >= 0 else { throw SocketError(in: "socket") }
    let socket = Socket(owning: descriptor)
    guard Platform.bindToLoopback(descriptor) else { throw SocketError(in: "bind") }
    guard let port = Platform.boundPort(descriptor) else { throw SocketError(in: "getsockname") }
    return (socket, port)
  }

  /// Returns a connection to a port of 127.0.0.1; nil if it is not completed within 50 ms.
  static func connected(to port: UInt16, _ wake: WakePipe) throws(SocketError) -> Socket? {
    let descriptor = Platform.openStream()
    guard descriptor >= 0 else { throw SocketError(in: "socket") }
    let socket = Socket(owning: descriptor)
    Platform.connectToLoopback(descriptor, port)
    let seen = socket.look(
      reading: false, writing: true, wake: wake, timeout: .milliseconds(50))
    return seen.isWritable ? socket : nil
  }

  /// Returns the next connection, if one is waiting.
  func accept() -> Socket? {
    let accepted = Platform.acceptOne(descriptor)
    guard accepted >= 0 else { return nil }
    Platform.sendSmallPiecesAtOnce(accepted)
    return Socket(owning: accepted)
  }
}

// MARK: - Talking

extension Socket {
  /// Waits once, without a timeout indefinitely; may report nothing ready.
  func look(reading: Bool, writing: Bool = false, wake: WakePipe, timeout: Duration?)
    -> Platform.Readiness
  {
    Platform.look(
      at: descriptor, reading: reading, writing: writing, wake: wake.descriptor, timeout: timeout)
  }

  /// Appends at most `limit` of the bytes that have arrived.
  func receive(_ limit: Int, into input: inout [UInt8]) -> Platform.Transfer {
    withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
      let result = Platform.receiveBytes(descriptor, into: buffer)
      if case .moved(let count) = result { input.append(contentsOf: buffer.prefix(count)) }
      return result
    }
  }

  /// Sends as many of the first `bytes` as there is room for.
  func send(_ bytes: ArraySlice<UInt8>) -> Platform.Transfer {
    bytes.withUnsafeBytes { Platform.sendBytes(descriptor, $0) }
  }

  /// Ends the sending direction.
  func endWriting() { Platform.endWriting(descriptor) }

  /// Closes with a reset.
  func reset() {
    Platform.resetOnClose(descriptor)
    close()
  }
}
