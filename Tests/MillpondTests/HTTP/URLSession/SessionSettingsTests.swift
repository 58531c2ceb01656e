import Foundation
import LoopbackServer
import MillpondCore
import MillpondTesting
import Testing

@testable import Millpond

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The user's configuration of a session: what is taken from it, and what is not.
@Suite(.timeLimit(.minutes(3))) struct SessionSettingsTests {
  private static func source(
    _ configuration: URLSessionConfiguration = .ephemeral,
    onMetrics: (@Sendable (TransferMetrics) -> Void)? = nil
  ) -> HTTPSource<URL> {
    HTTPSource(
      transport: URLSessionTransport(configuration: configuration, onMetrics: onMetrics))
  }

  /// An origin that sets the cookie of a path, and answers with those that it was sent.
  private static func cookieOrigin() throws -> LoopbackServer {
    try LoopbackServer { request in
      Response(
        headers: ["Set-Cookie": "a=b; Path=/in"],
        body: Array((request.headers["Cookie"] ?? "none").utf8))
    }
  }

  private static func text(_ source: HTTPSource<URL>, _ url: URL) async throws -> String {
    String(decoding: try await source.get(url).value, as: UTF8.self)
  }

  @Test func `the cache, the limits and the storage of credentials are not the session's`() {
    let given = URLSessionConfiguration.default
    given.timeoutIntervalForRequest = 1
    given.httpAdditionalHeaders = ["A": "b"]
    given.httpMaximumConnectionsPerHost = 0
    let settings = SessionSettings(given)

    let used = settings.configuration(connectionsPerHost: settings.connectionsPerHost)

    #expect(used.urlCache == nil)
    #expect(used.requestCachePolicy == .reloadIgnoringLocalCacheData)
    #expect(used.urlCredentialStorage == nil)
    #expect(!used.httpShouldSetCookies)
    #expect(used.httpAdditionalHeaders == nil)
    #expect(used.timeoutIntervalForRequest > 24 * 60 * 60)
    #expect(used.timeoutIntervalForResource > 24 * 60 * 60)
    #expect(used.httpMaximumConnectionsPerHost == 1)
    #expect(given.timeoutIntervalForRequest == 1)
    #expect(given.urlCache != nil)
  }

  // MARK: Cookies

  @Test func `a cookie goes back to the path that it is for, and to no other`() async throws {
    let origin = try Self.cookieOrigin()
    let source = Self.source()

    #expect(try await Self.text(source, origin.url("/in/1")) == "none")
    #expect(try await Self.text(source, origin.url("/in/2")) == "a=b")
    #expect(try await Self.text(source, origin.url("/out")) == "none")
  }

  @Test func `a configuration without a storage, or that sends none, sends no cookies`()
    async throws
  {
    let origin = try Self.cookieOrigin()
    let withoutStorage = URLSessionConfiguration.ephemeral
    withoutStorage.httpCookieStorage = nil
    let sendingNone = URLSessionConfiguration.ephemeral
    sendingNone.httpShouldSetCookies = false

    for source in [Self.source(withoutStorage), Self.source(sendingNone)] {
      #expect(try await Self.text(source, origin.url("/in/1")) == "none")
      #expect(try await Self.text(source, origin.url("/in/2")) == "none")
    }
  }

  @Test func `a caller's own cookie is sent alone`() async throws {
    let origin = try Self.cookieOrigin()
    let configuration = URLSessionConfiguration.ephemeral
    let source = HTTPSource(transport: URLSessionTransport(configuration: configuration)) {
      (url: URL) in HTTPRequest(url: url, headers: ["cookie": "own=1"])
    }

    _ = try await Self.text(Self.source(configuration), origin.url("/in/1"))

    #expect(try await Self.text(source, origin.url("/in/2")) == "own=1")
  }

  @Test func `a cookie that a redirect sets goes to where it points`() async throws {
    let origin = try LoopbackServer { request in
      request.path == "/login"
        ? Response(status: 302, headers: ["Location": "/home", "Set-Cookie": "in=1; Path=/"])
        : Response(body: Array((request.headers["Cookie"] ?? "none").utf8))
    }

    #expect(try await Self.text(Self.source(), origin.url("/login")) == "in=1")
  }

  @Test func `a private answer is stored for the user whom the session's cookies name`()
    async throws
  {
    let origin = try LoopbackServer { request in
      Response(
        headers: ["Cache-Control": "private, max-age=600"],
        body: Array((request.headers["Cookie"] ?? "none").utf8))
    }
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    func source(of user: String) throws -> HTTPSource<URL> {
      let configuration = URLSessionConfiguration.ephemeral
      let url = try origin.url("/")
      let cookies = HTTPCookie.cookies(
        withResponseHeaderFields: ["Set-Cookie": "user=\(user)"], for: url)
      configuration.httpCookieStorage?.setCookies(cookies, for: url, mainDocumentURL: nil)
      return HTTPSource(
        transport: HTTPCache(over: URLSessionTransport(configuration: configuration), in: store))
    }

    let (al, bo) = (try source(of: "al"), try source(of: "bo"))

    #expect(try await Self.text(al, origin.url("/")) == "user=al")
    #expect(try await Self.text(bo, origin.url("/")) == "user=bo")
    #expect(try await Self.text(al, origin.url("/")) == "user=al")
    #expect(origin.exchanges.count == 2)
  }

  @Test func `an interrupted body of one user is not continued for another`() throws {
    let url = try #require(URL(string: "http://a/"))
    func name(_ cookie: String) -> Representation {
      HTTPRequest(url: url)
        .adding(TransportCapabilities(addedFields: { _ in ["Cookie": cookie] })).representation
    }

    #expect(name("user=al") == name("user=al"))
    #expect(name("user=al") != name("user=bo"))
  }

  // MARK: Additional headers

  @Test func `additional headers are sent where a request has none of that name`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-One": "session", "X-Two": "session"]
    let source = HTTPSource(transport: URLSessionTransport(configuration: configuration)) {
      (url: URL) in HTTPRequest(url: url, headers: ["x-two": "request"])
    }

    _ = try await source.get(origin.url("/")).value

    let sent = try #require(origin.exchanges.first).request.headers
    #expect(sent["X-One"] == "session")
    #expect(sent["X-Two"] == "request")
  }

  @Test func `a redirect to another origin is followed without the session's authorization`()
    async throws
  {
    let other = try LoopbackServer { _ in Response() }
    let origin = try LoopbackServer { _ in
      Response(status: 302, headers: ["Location": "\(other.baseURL)/b"])
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["Authorization": "secret", "X-One": "1"]

    _ = try await Self.source(configuration).get(origin.url("/")).value

    #expect(origin.exchanges.first?.request.headers["Authorization"] == "secret")
    let sent = try #require(other.exchanges.first).request.headers
    #expect(sent["Authorization"] == nil)
    #expect(sent["X-One"] == "1")
  }

  @Test func `a line break in an additional header fails the request, unsent`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-One": "1\r\nX-Two: 2"]

    let answer = try await Recorder.outcome(of: Self.source(configuration), origin.url("/"))

    guard case .invalidRequest? = answer.failure as? TransferError else {
      Issue.record("\(answer)")
      return
    }
    #expect(origin.exchanges.isEmpty)
  }

  // MARK: Metrics

  @Test func `each exchange has its times, and a redirect is one`() async throws {
    let origin = try LoopbackServer { request in
      request.path.hasPrefix("/b")
        ? Response(body: [1]) : Response(status: 302, headers: ["Location": "/b?token=secret"])
    }
    let metrics = Watched<[TransferMetrics]>([])
    let source = Self.source(onMetrics: { new in metrics.change { $0.append(new) } })

    _ = try await source.get(origin.url("/a")).value
    try await metrics.wait(for: "two exchanges") { $0.count == 2 }

    #expect(metrics.state.map(\.status) == [302, 200])
    for exchange in metrics.state {
      #expect(try #require(exchange.firstByte) <= exchange.total)
      #expect(exchange.firstByte.map { $0 > .zero } == true)
      #expect(!exchange.description.contains("secret"))
    }
    #expect(metrics.state.last?.url.contains("/b?token") == true)
  }

  @Test func `an exchange without an answer has no status`() async throws {
    let closed = try ClosedPort()
    let metrics = Watched<[TransferMetrics]>([])
    let source = Self.source(onMetrics: { new in metrics.change { $0.append(new) } })

    _ = try await Recorder.outcome(of: source, try #require(URL(string: closed.baseURL)))
    try await metrics.wait(for: "an exchange") { !$0.isEmpty }

    #expect(metrics.state.map(\.status) == [nil])
    #expect(metrics.state.first?.firstByte == nil)
  }
}
