@_exported public import MillpondSockets

/// A small HTTP/1.1 origin on 127.0.0.1, for tests, demos and benchmarks.
///
///     let origin = try LoopbackServer(latency: .milliseconds(20)) { request in
///       Response(headers: ["Content-Type": "image/png"], body: image)
///     }
///     defer { origin.stop() }
///     download(origin.baseURL + "/image.png")
///     #expect(await origin.eventually { $0.requestCount(path: "/image.png") == 1 })
///
/// Connections are kept alive, each on its own thread. The server notices a client that closes
/// while its response is delayed, held or paced. It stops when it is released.
public final class LoopbackServer: Sendable {
  /// The port, chosen by the system.
  public var port: UInt16 { listener.port }

  /// The base URL: "http://127.0.0.1:" and the port, without a trailing slash.
  public var baseURL: String { "http://127.0.0.1:\(port)" }

  let log = RequestLog()

  private let listener: ConnectionListener

  /// Listens on a free port, and serves.
  ///
  /// - Parameters:
  ///   - latency: The delay before the head of each response.
  ///   - bytesPerSecond: The rate at which bodies are sent, at least 1; nil for no limit.
  ///   - handler: Runs on the connection's thread. It should not block: ``Response/held(by:)``
  ///     holds a response, and ``stop()`` waits for a running handler.
  /// - Throws: ``SocketError`` when the system refuses a socket, a pipe or a thread.
  public init(
    latency: Duration = .zero, bytesPerSecond: Int? = nil,
    handler: @escaping @Sendable (Request) -> Response
  ) throws(SocketError) {
    let bandwidth = bytesPerSecond.map(BandwidthLimit.init)
    listener = try Self.listener(
      ServerConfiguration(latency: latency, bandwidth: bandwidth, handler: handler), log)
  }

  /// Performs these steps for every client, whatever it sends; for protocols other than HTTP.
  ///
  /// No request is read, so there are no exchanges. After the steps, the server waits until the
  /// client closes.
  ///
  /// - Parameter steps: The steps for each connection.
  /// - Throws: ``SocketError`` when the system refuses a socket, a pipe or a thread.
  public init(greeting steps: [ScriptStep]) throws(SocketError) {
    listener = try Self.listener(
      ServerConfiguration(
        latency: .zero, bandwidth: nil, handler: { _ in Response() }, greeting: steps), log)
  }

  private static func listener(
    _ configuration: ServerConfiguration, _ log: RequestLog
  ) throws(SocketError) -> ConnectionListener {
    try ConnectionListener { stream, _ in
      log.openConnection()
      var connection = Connection(stream, configuration, log)
      connection.serve()
      log.closeConnection()
    }
  }

  deinit { stop() }

  /// Closes all connections, and waits until all threads have ended; idempotent.
  ///
  /// Unfinished responses end as ``RequestOutcome/stopped``.
  public func stop() { listener.stop() }
}
