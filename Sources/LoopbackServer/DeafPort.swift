/// A port on 127.0.0.1 where no connection comes about: who connects waits.
///
/// It listens, but accepts nobody, and its queue is full.
public final class DeafPort: Sendable {
  /// The port that the system picked.
  public let port: UInt16

  private let listener: Socket
  private let queue: [Socket]

  /// Fills the queue of a port.
  ///
  /// - Throws: ``SocketError`` when the system refuses a socket.
  public init() throws(SocketError) {
    (listener, port) = try Socket.listening(queue: 0)
    let wake = try Wake()
    var queue: [Socket] = []
    while let socket = try Socket.connected(to: port, wake) { queue.append(socket) }
    self.queue = queue
  }

  /// "http://127.0.0.1:" and the port; without a slash at the end.
  public var baseURL: String { "http://127.0.0.1:\(port)" }
}
