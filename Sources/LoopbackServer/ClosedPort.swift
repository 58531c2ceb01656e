/// A port on 127.0.0.1 that refuses every connection while this object lives.
///
/// The port of a stopped server refuses connections too, until the system assigns it again.
public final class ClosedPort: Sendable {
  /// The port, chosen by the system.
  public let port: UInt16

  private let socket: Socket

  /// Binds to a port without listening.
  ///
  /// - Throws: ``SocketError`` when the system refuses a socket.
  public init() throws(SocketError) {
    (socket, port) = try Socket.bound()
  }

  /// The base URL: "http://127.0.0.1:" and the port, without a trailing slash.
  public var baseURL: String { "http://127.0.0.1:\(port)" }
}
