import MillpondSockets
import MillpondCore
import MillpondSignals

/// The server of the page.
final class InspectorServer: Sendable {
  /// The greatest number of connections.
  static let connectionLimit = 16

  let pages = OpenPages()

  private let token = AccessToken()
  private let listener: ConnectionListener

  init(_ source: InspectedSource, _ times: ServerTimeouts) throws {
    listener = try ConnectionListener(limit: Self.connectionLimit) { [token, pages] stream, port in
      var connection = InspectorConnection(
        stream, RequestAdmission(token: token, port: port), source, pages, times)
      connection.serve()
    }
  }

  var address: String { "http://127.0.0.1:\(listener.port)/\(token.text)/" }

  func stop() { listener.stop() }
}
