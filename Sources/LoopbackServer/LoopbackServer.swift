/// A small HTTP/1.1 origin on 127.0.0.1, for tests, demos and benchmarks.
///
///     let origin = try LoopbackServer(latency: .milliseconds(20)) { request in
///       Response(headers: ["Content-Type": "image/png"], body: image)
///     }
///     defer { origin.stop() }
///     download(origin.baseURL + "/image.png")
///     #expect(await origin.eventually { $0.requestCount(path: "/image.png") == 1 })
///
/// Connections are kept alive, each has a thread of its own, and a client that closes is noticed
/// while its response is delayed, held or paced. Stops when released.
public final class LoopbackServer: Sendable {
  /// The port that the system picked.
  public var port: UInt16 { listener.port }

  /// "http://127.0.0.1:" and the port; without a slash at the end.
  public var baseURL: String { "http://127.0.0.1:\(port)" }

  var ledger: Ledger { listener.ledger }

  private let listener: Listener

  /// Listens on a free port, and serves.
  ///
  /// - Parameters:
  ///   - latency: Wait before the head of each response.
  ///   - bytesPerSecond: Rate at which bodies are sent, at least 1; nil is as fast as it goes.
  ///   - handler: Runs on the connection's thread. Should not block: a response is held with
  ///     ``Response/held(by:)``, and ``stop()`` waits for a handler that is running.
  /// - Throws: ``SocketError`` when the system refuses a socket, a pipe or a thread.
  public init(
    latency: Duration = .zero, bytesPerSecond: Int? = nil,
    handler: @escaping @Sendable (Request) -> Response
  ) throws(SocketError) {
    let pace = bytesPerSecond.map(Pace.init)
    listener = try Listener(Service(latency: latency, pace: pace, handler: handler))
  }

  /// Does these steps with whoever connects, whatever that sends: for what is not HTTP.
  ///
  /// No request is read, so there are no exchanges. Then it waits until the client closes.
  ///
  /// - Throws: ``SocketError`` when the system refuses a socket, a pipe or a thread.
  public init(greeting steps: [Step]) throws(SocketError) {
    listener = try Listener(
      Service(latency: .zero, pace: nil, handler: { _ in Response() }, greeting: steps))
  }

  deinit { stop() }

  /// Closes everything and waits until all of it has ended; a second call does nothing.
  ///
  /// Responses that are not finished end as ``Outcome/stopped``.
  public func stop() { listener.stop() }
}
