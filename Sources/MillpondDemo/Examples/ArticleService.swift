import Foundation
import Millpond

/// A small HTTP service that puts Millpond before a slow upstream; any server can call it.
///
/// Many clients that ask for the same cost one request. The upstream is asked for four things at a
/// time, and not at all for a while after it failed. When the service is asked to end, it lets running
/// requests end, and writes what is not on disk yet.
final class ArticleService: Sendable {
  private let articles: AnyCache<String, Data>
  private let repository = Repository()
  private let monitor = CacheMonitor()

  /// Creates the service, which stores articles in a folder.
  init(upstream base: String, folder: URL) throws {
    let memory = MemoryCache<String, Data>(
      costLimit: .mebibytes(16), timeToLive: .after(.seconds(30)), cost: \.count)
    let disk = DiskCache(
      directory: folder, byteLimit: .mebibytes(256), timeToLive: .after(.seconds(300)))
    let network = HTTPSource { (path: String) in
      guard let url = URL(string: base + path) else { throw URLError(.badURL) }
      return HTTPRequest(url: url)
    }
    .limited(to: 4, maxWaiting: 1_000)
    .circuitBreaking(afterFailures: 5, for: .seconds(10)) { !$0.isNotFound }
    articles = AnyCache(
      memory.named("memory")
        .layered(over: disk.named("disk").layered(over: network.stoppable().named("upstream")))
        .reusingInFlight()
        .monitored(by: monitor))
    try repository.add(articles, named: "articles")
  }

  /// Returns the status and the body of the response to a request for `path`.
  func response(to path: String) async -> (status: Int, body: Data) {
    if path == "/statistics" { return (200, Data(statistics.utf8)) }
    guard path.hasPrefix("/articles/") else { return (404, Data()) }
    do {
      return (200, try await articles.get(path, deadline: .after(.seconds(5))).value)
    } catch {
      return error.isNotFound ? (404, Data()) : (503, Data("\(error)\n".utf8))
    }
  }

  /// Hits, misses and times of each layer, and the diagram of them all.
  var statistics: String {
    let rows = monitor.statistics.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return (rows + ["", articles.diagram, ""]).joined(separator: "\n")
  }

  /// Stops fetching, and writes what is not on disk.
  ///
  /// - Throws: What was not done in time.
  func shutDown() async throws {
    try await repository.shutDown(deadline: .after(.seconds(5)))
  }
}
