import Foundation
import LoopbackServer
import Millpond
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The code of the page "HTTP settings".
@Suite(.timeLimit(.minutes(3))) struct HTTPSettingsTests {
  static func api(_ base: URL) -> HTTPSource<String> {
    // snippet
    let api = HTTPSource(
      baseURL: base, headers: ["Accept": "application/json", "X-Client": "shop 2.1"])
    // end
    return api
  }

  // snippet
  struct Page: Hashable, Sendable {
    let path: String
    let language: String
  }

  func pages(below base: URL) -> HTTPSource<Page> {
    HTTPSource { (page: Page) in
      HTTPRequest(
        url: base.appending(path: page.path), headers: ["Accept-Language": page.language])
    }
  }
  // end

  // snippet
  struct Search: Hashable, Codable, Sendable {
    let words: [String]
    let page: Int
  }

  func searches(at url: URL) -> HTTPSource<Search> {
    HTTPSource { search in
      try .post(url, .json(search)).assumedSafe()
    }
  }
  // end

  static func mine(_ base: URL, _ signer: NetworkTests.Signer) -> HTTPSource<String> {
    // snippet
    let account = HTTPAuthorization(for: base) { refused in
      ["Authorization": "Bearer \(try await signer.token(isRefused: refused != nil))"]
    }
    let mine = HTTPSource(baseURL: base, authorization: account)
    // end
    return mine
  }

  static func shop(_ base: URL) -> (HTTPSource<String>, HTTPSource<URL>) {
    // snippet
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieAcceptPolicy = .onlyFromMainDocumentDomain
    configuration.httpAdditionalHeaders = ["User-Agent": "shop/2.1"]
    let transport = URLSessionTransport(configuration: configuration, onMetrics: { print($0) })
    let shop = HTTPSource(baseURL: base, transport: transport)
    let photos = HTTPSource<URL>(transport: transport)  // the same connections and cookies
    // end
    return (shop, photos)
  }

  static func picture(_ url: URL) async throws -> Data {
    // snippet
    let small = HTTPSource<URL>(
      transport: URLSessionTransport(connectionsPerHost: 2),
      limits: HTTPLimits(
        idleTimeout: .seconds(10), totalTimeout: .seconds(30), byteLimit: .mebibytes(4)))
    let polite = small.limited(to: 8).rateLimited(to: 20, per: .seconds(1))
    let picture = try await polite.get(url, deadline: .after(.seconds(5))).value
    // end
    return picture
  }

  static func hosts() -> some Source<URL, Data> {
    // snippet
    let slow = HTTPSource<URL>().limited(to: 2)
    let all = HTTPSource<URL>().limited(to: 16)
      .switched(to: slow) { $0.host() == "archive.example.com" }
    // end
    return all
  }

  /// Answers the value of a field.
  static func echo(_ field: String) throws -> LoopbackServer {
    try LoopbackServer { Response(body: Array(($0.headers[field] ?? "none").utf8)) }
  }

  @Test func `fields are those of the source, or of the key`() async throws {
    let origin = try LoopbackServer { Response(body: Array($0.path.utf8)) }
    let base = try origin.url("/v2")

    #expect(try await Self.api(base).get("users/7").value == Data("/v2/users/7".utf8))
    #expect(origin.exchanges.last?.request.headers["X-Client"] == "shop 2.1")
    let german = Page(path: "start", language: "de")
    #expect(try await pages(below: base).get(german).value == Data("/v2/start".utf8))
    #expect(origin.exchanges.last?.request.headers["Accept-Language"] == "de")
  }

  @Test func `a search by POST is fetched once, and stored by its key`() async throws {
    let origin = try LoopbackServer { Response(body: Array($0.method.utf8)) }
    let found = MemoryCache<Search, Data>(countLimit: 10)
      .layered(over: searches(at: try origin.url("/search")))
    let search = Search(words: ["mill", "pond"], page: 1)

    #expect(try await found.get(search).value == Data("POST".utf8))
    #expect(try await found.get(search).value == Data("POST".utf8))
    #expect(origin.exchanges.count == 1)
  }

  @Test func `credentials are obtained anew after a refusal`() async throws {
    let origin = try LoopbackServer { request in
      Response(status: request.headers["Authorization"] == "Bearer new" ? 200 : 401)
    }
    let base = try origin.url("/")

    #expect(try await Self.mine(base, NetworkTests.Signer(base: base)).get("me").value.isEmpty)
  }

  @Test func `sources with one transport have its fields`() async throws {
    let origin = try Self.echo("User-Agent")
    let (shop, photos) = Self.shop(try origin.url("/"))

    #expect(try await shop.get("a").value == Data("shop/2.1".utf8))
    #expect(try await photos.get(try origin.url("/b")).value == Data("shop/2.1".utf8))
  }

  @Test func `a get keeps to all limits, and the key chooses those of a host`() async throws {
    let origin = try Self.echo("Host")
    let url = try origin.url("/a")

    #expect(try await Self.picture(url) == Self.hosts().get(url).value)
    #expect(Self.hosts().diagram.contains("limited to 2"))
  }
}
