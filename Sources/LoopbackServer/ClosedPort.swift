/// A port on 127.0.0.1 where every connection is refused, for as long as this is held.
///
/// The port of a server that was stopped refuses too, until the system gives it to someone else.
public final class ClosedPort: Sendable {
  /// The port that the system picked.
  public let port: UInt16

  private let socket: Socket

  /// Takes a port, and doesn't listen.
  ///
  /// - Throws: ``SocketError`` when the system refuses a socket.
  public init() throws(SocketError) {
    (socket, port) = try Socket.bound()
  }

  /// "http://127.0.0.1:" and the port; without a slash at the end.
  public var baseURL: String { "http://127.0.0.1:\(port)" }
}
