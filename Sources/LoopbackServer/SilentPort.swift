/// A port on 127.0.0.1 where no connection is completed, so that clients wait.
///
/// It listens but never accepts, and its queue is full.
public final class SilentPort: Sendable {
  /// The port, chosen by the system.
  public let port: UInt16

  private let listener: Socket
  private let queue: [Socket]

  /// Listens on a port, and fills its queue.
  ///
  /// - Throws: ``SocketError`` when the system refuses a socket.
  public init() throws(SocketError) {
    (listener, port) = try Socket.listening(queue: 0)
    var queue: [Socket] = []
    while let socket = try Socket.connected(to: port) { queue.append(socket) }
    self.queue = queue
  }

  /// The base URL: "http://127.0.0.1:" and the port, without a trailing slash.
  public var baseURL: String { "http://127.0.0.1:\(port)" }
}
