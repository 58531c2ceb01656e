import Foundation
import LoopbackServer
import Millpond

/// The example of a service, behind a server of this machine's own and before a slow upstream.
struct ServeShow {
  private let folder: URL
  private let screen: Screen

  init(folder: URL, _ screen: Screen) {
    self.folder = folder
    self.screen = screen
  }

  /// Serves until the process is asked to end.
  ///
  /// - Returns: Whether everything is on disk.
  func run() async throws -> Bool {
    let (endings, ending) = AsyncStream<Void>.makeStream()
    let interruption = Interruption { _ in ending.yield() }
    defer { withExtendedLifetime(interruption) {} }
    let upstream = try LoopbackServer(latency: .milliseconds(300)) { request in
      let number = Int(request.path.dropFirst("/articles/".count)) ?? 0
      return number > 0
        ? Response(body: Array("Article \(number)\n".utf8)) : Response(status: 404)
    }
    defer { upstream.stop() }
    let service = try ArticleService(upstream: upstream.baseURL, folder: folder)
    let server = try LoopbackServer { Self.response(of: service, to: $0.path) }
    screen.write(lines: [
      "Serving \(server.baseURL)/articles/1 and so on, statistics at \(server.baseURL)/statistics.",
      "The upstream takes 300 ms for each article. Ctrl-C or SIGTERM ends the service.", "",
    ])
    await ask(server, upstream)
    screen.write(lines: [service.statistics])

    for await _ in endings { break }
    screen.write(lines: ["", "Ending: no new connections, running requests are answered."])
    server.stop()
    do {
      try await service.shutDown()
      screen.write(lines: ["Everything is on disk."])
      return true
    } catch {
      screen.write(lines: ["Not everything was done in time: \(error)"])
      return false
    }
  }

  /// Waits on the connection's own thread; the service's deadline ends the wait.
  private static func response(of service: ArticleService, to path: String) -> Response {
    let response = Locked(Response(status: 500))
    let isDone = DispatchSemaphore(value: 0)
    Task {
      let (status, body) = await service.response(to: path)
      response.withLock {
        $0 = Response(status: status, headers: ["Content-Type": "text/plain"], body: [UInt8](body))
      }
      isDone.signal()
    }
    isDone.wait()
    return response.withLock { $0 }
  }

  /// Asks for 20 articles by 200 requests at once, as many clients do.
  private func ask(_ server: LoopbackServer, _ upstream: LoopbackServer) async {
    let base = server.baseURL
    let clients = HTTPSource { (path: String) in
      guard let url = URL(string: base + path) else { throw URLError(.badURL) }
      return HTTPRequest(url: url)
    }
    let requests = (0..<200).map { clients.get("/articles/\($0 % 20 + 1)") }
    let begin = ContinuousClock.now
    let answers = (try? await zip(requests).value)?.count ?? 0
    let elapsed = begin.duration(to: .now).formatted(.units(allowed: [.milliseconds]))
    screen.write(lines: [
      "200 requests for 20 articles: \(answers) answers in \(elapsed), "
        + "\(upstream.exchanges.count) requests to the upstream."
    ])
  }
}
