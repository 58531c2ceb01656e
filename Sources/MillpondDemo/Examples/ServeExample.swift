import Foundation
import LoopbackServer
import Millpond
import Synchronization

/// A small HTTP service that puts Millpond before a slow upstream.
///
/// Many clients that ask for the same cost one request. The upstream is asked for four things at a
/// time, and not at all for a while after it failed. When the service is asked to end, it stops
/// accepting, lets running requests end, and writes what is not on disk yet.
final class ServeExample: Sendable {
  private let articles: AnyCache<String, Data>
  private let repository = Repository()
  private let monitor = CacheMonitor()
  private let upstream: LoopbackServer
  private let screen: Screen

  /// Creates the service, which stores articles in a folder.
  ///
  /// - Throws: `SocketError` if the system refuses a socket.
  init(folder: URL, _ screen: Screen) throws {
    self.screen = screen
    upstream = try SlowUpstream.start()

    let base = upstream.baseURL
    let memory = MemoryCache<String, Data>(
      costLimit: .mebibytes(16), timeToLive: .after(.seconds(30)), cost: \.count)
    let disk = DiskCache(
      directory: folder, byteLimit: .mebibytes(256), timeToLive: .after(.seconds(300)))
    let network = HTTPSource { path in try HTTPRequest(url: Self.url(base + path)) }
      .limited(to: 4, maxWaiting: 1_000)
      .circuitBreaking(afterFailures: 5, for: .seconds(10)) { !$0.isMissing }
    articles = AnyCache(
      memory.named("memory")
        .layered(over: disk.named("disk").layered(over: network.stoppable().named("upstream")))
        .reusingInFlight()
        .monitored(by: monitor))
    try repository.add(articles, named: "articles")
  }

  /// Serves until the process is asked to end.
  ///
  /// - Returns: Whether everything is on disk.
  func run() async throws -> Bool {
    let (endings, ending) = AsyncStream<Void>.makeStream()
    let interruption = Interruption { _ in ending.yield() }
    defer { withExtendedLifetime(interruption) {} }
    let server = try LoopbackServer { [self] in respond(to: $0) }
    screen.write(lines: [
      "Serving \(server.baseURL)/articles/1 and so on, statistics at \(server.baseURL)/statistics.",
      "The upstream takes 300 ms for each article. Ctrl-C or SIGTERM ends the service.", "",
    ])
    await demonstrate(server)

    for await _ in endings { break }
    screen.write(lines: ["", "Ending: no new connections, running requests are answered."])
    server.stop()
    defer { upstream.stop() }
    do {
      try await repository.shutDown(deadline: .after(.seconds(5)))
      screen.write(lines: ["Everything is on disk."])
      return true
    } catch {
      screen.write(lines: ["Not everything was done in time: \(error)"])
      return false
    }
  }

  // MARK: Requests

  private func respond(to request: Request) -> Response {
    switch request.path {
    case "/statistics": return Self.text(Data(statistics.utf8))
    case let path where path.hasPrefix("/articles/"): return article(path)
    default: return Response(status: 404)
    }
  }

  /// Waits on the connection's own thread; the deadline ends the wait.
  private func article(_ path: String) -> Response {
    let response = Mutex(Response(status: 404))
    let isDone = DispatchSemaphore(value: 0)
    articles.get(path, deadline: .after(.seconds(5))).subscribe { event in
      switch event {
      case .next(let body): response.withLock { $0 = Self.text(body) }
      case .failed(let error) where !error.isMissing:
        response.withLock { $0 = Self.text(Data("\(error)\n".utf8), status: 503) }
      case .failed, .progress, .completed: break
      }
      if event.isTerminal { isDone.signal() }
    }
    isDone.wait()
    return response.withLock { $0 }
  }

  private static func text(_ body: Data, status: Int = 200) -> Response {
    Response(status: status, headers: ["Content-Type": "text/plain"], body: [UInt8](body))
  }

  private var statistics: String {
    let rows = monitor.statistics.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return (rows + ["", articles.diagram, ""]).joined(separator: "\n")
  }

  // MARK: Clients

  /// Asks for 20 articles by 200 requests at once, as many clients do.
  private func demonstrate(_ server: LoopbackServer) async {
    let clients = HTTPSource { path in try HTTPRequest(url: Self.url(server.baseURL + path)) }
    let requests = (0..<200).map { clients.get("/articles/\($0 % 20 + 1)") }
    let begin = ContinuousClock.now
    let answers = (try? await zip(requests).value)?.count ?? 0
    let elapsed = begin.duration(to: .now).formatted(.units(allowed: [.milliseconds]))
    screen.write(lines: [
      "200 requests for 20 articles: \(answers) answers in \(elapsed), "
        + "\(upstream.exchanges.count) requests to the upstream.",
      statistics,
    ])
  }

  private static func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    return url
  }
}

extension Error {
  /// Whether the upstream works, and has no such article.
  fileprivate var isMissing: Bool {
    if case .status(404, _, _)? = self as? TransferError { true } else { false }
  }
}

/// An origin that takes its time.
private enum SlowUpstream {
  static func start() throws -> LoopbackServer {
    try LoopbackServer(latency: .milliseconds(300)) { request in
      guard let number = Int(request.path.dropFirst("/articles/".count)), number > 0 else {
        return Response(status: 404)
      }
      return Response(body: Array("Article \(number)\n".utf8))
    }
  }
}
