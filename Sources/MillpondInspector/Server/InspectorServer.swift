import LoopbackServer
import MillpondCore
import MillpondSignals

/// The times of the server.
struct ServerTimes: Sendable {
  /// The time between two states of the page.
  var interval = Duration.milliseconds(250)

  /// The time in which a request has to arrive.
  var request = Duration.seconds(10)

  /// The time in which a browser has to take a response, or a state.
  var response = Duration.seconds(10)

  /// The time for which the page waits for the outcome of a removal.
  var outcome = Duration.seconds(2)
}

/// The server of the page.
final class InspectorServer: Sendable {
  /// The greatest number of connections.
  static let connectionLimit = 16

  let pages = OpenPages()

  private let token = AccessToken()
  private let listener: ConnectionListener

  init(_ source: InspectedSource, _ times: ServerTimes) throws {
    listener = try ConnectionListener(limit: Self.connectionLimit) { [token, pages] stream, port in
      var connection = InspectorConnection(
        stream, RequestGate(token: token, port: port), source, pages, times)
      connection.serve()
    }
  }

  var address: String { "http://127.0.0.1:\(listener.port)/\(token.text)/" }

  func stop() { listener.stop() }
}
