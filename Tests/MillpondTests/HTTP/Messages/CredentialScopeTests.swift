import Foundation
import LoopbackServer
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct CredentialScopeTests {
  private func request(_ address: String) throws -> HTTPRequest {
    HTTPRequest(
      url: try #require(URL(string: address)),
      headers: ["X-B": "b", "Cookie": "c", "Content-Type": "d"],
      credentials: ["Authorization": "secret"])
  }

  private func next(_ request: HTTPRequest, _ address: String, by status: Int = 302) throws
    -> HTTPRequest
  {
    request.redirected(by: HTTPHead(status: status), to: try #require(URL(string: address)))
  }

  @Test(arguments: ["http://a.b/c", "HTTP://A.B:80/", "http://u:p@a.b/?d", "http://a.b#e"])
  func `credentials stay with the same scheme, host and port`(target: String) throws {
    let followed = try next(request("http://a.b/"), target)

    #expect(followed.credentials["Authorization"] == "secret")
    #expect(followed.headers["Cookie"] == "c")
    #expect(followed.redirection?.leftOrigin == false)
  }

  @Test(arguments: [
    "https://a.b/", "http://a.b:81/", "http://x.a.b/", "http://b/", "http://a.b./", "http://a.b.c/",
    "http://a.b@c/", "http://a.bb/",
  ])
  func `credentials go to no other scheme, host, subdomain or port`(target: String) throws {
    let followed = try next(request("http://a.b/"), target)

    #expect(followed.credentials.fields.isEmpty)
    #expect(followed.headers["Cookie"] == nil)
    #expect(followed.headers["X-B"] == "b")
    #expect(followed.redirection?.leftOrigin == true)
  }

  @Test func `credentials do not come back with a redirect from another origin`() throws {
    let back = try next(next(request("http://a/"), "http://b/"), "http://a/")

    #expect(back.credentials.fields.isEmpty && back.redirection?.leftOrigin == true)
    #expect(!back.admitsCredentials(for: back.url))
  }

  @Test func `a list of origins widens the scope, for redirects too`() throws {
    let other = try #require(URL(string: "https://cdn.a:8443/any/path"))
    let first = try request("http://a/").authorized(by: ["X-Key": "k"], for: [other])

    #expect(try next(first, "https://cdn.a:8443/f").credentials["X-Key"] == "k")
    #expect(try next(next(first, "https://cdn.a:8443/f"), "http://a/").credentials["X-Key"] == "k")
    #expect(try next(first, "https://cdn.a/f").credentials["X-Key"] == nil)
  }

  @Test(arguments: [
    (HTTPMethod.post, 301, HTTPMethod.get), (.post, 302, .get), (.post, 303, .get),
    (.post, 307, .post), (.post, 308, .post), (.put, 301, .put), (.put, 302, .put),
    (.put, 303, .get), (.put, 307, .put), (.delete, 303, .get), (.delete, 302, .delete),
    (.head, 303, .head), (.head, 302, .head), (.get, 308, .get), ("PURGE", 302, "PURGE"),
  ])
  func `a redirect changes the method by the RFC, and the body goes with it`(
    method: HTTPMethod, status: Int, wanted: HTTPMethod
  ) throws {
    let url = try #require(URL(string: "http://a/"))
    let hasBody = ![.get, .head].contains(method)
    let first = HTTPRequest(
      url: url, method: method, headers: ["Content-Language": "de", "X-B": "b"],
      body: hasBody ? .data(Data([1]), contentType: "a/b") : nil)

    let followed = try next(first, "http://a/c", by: status)

    let keepsBody = hasBody && method == wanted
    #expect(followed.method == wanted)
    #expect((followed.body != nil) == keepsBody)
    #expect(followed.fields["Content-Type"] == (keepsBody ? "a/b" : nil))
    #expect((followed.headers["Content-Language"] == nil) == (method != wanted))
    #expect(followed.headers["X-B"] == "b")
  }

  @Test func `a user and password in the URL become credentials, and leave the URL`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let url = try #require(
      URL(string: "http://us%40er:pass%3Aword@127.0.0.1:\(origin.port)/a?b=c"))

    _ = try await HTTPSource().get(url).value

    #expect(
      origin.exchanges.first?.request.headers["Authorization"] == "Basic dXNAZXI6cGFzczp3b3Jk")
    #expect(origin.exchanges.first?.request.path == "/a?b=c")
    let request = HTTPRequest(url: url)
    #expect(!request.url.absoluteString.contains("word"))
    #expect(!request.identity.contains("word"))
    #expect(HTTPRequest(url: url, headers: ["authorization": "x"]).credentials.fields.isEmpty)
  }

  @Test func `the user of a redirect's target is not sent, to whatever origin`() async throws {
    let other = try LoopbackServer { _ in Response() }
    let targets = ["/same": "127.0.0.1:", "/other": "127.0.0.1:"]
    let port = Watched<UInt16>(0)
    let origin = try LoopbackServer { request in
      guard targets[request.path] != nil else { return Response() }
      let port = request.path == "/same" ? port.state : other.port
      return Response(
        status: 302, headers: ["Location": "http://eve:evil@127.0.0.1:\(port)/end"])
    }
    port.change { $0 = origin.port }

    for path in targets.keys { _ = try await HTTPSource().get(origin.url(path)).value }

    for exchange in origin.exchanges + other.exchanges {
      #expect(exchange.request.headers["Authorization"] == nil)
    }
    #expect(other.exchanges.count == 1)
  }

  @Test func `a redirect between two listed origins keeps what was obtained for both`() async throws
  {
    let other = try LoopbackServer { request in
      request.headers["X-Key"] == "k" ? Response(body: [1]) : Response(status: 401)
    }
    let target = "\(other.baseURL)/b"
    let origin = try LoopbackServer { _ in Response(status: 302, headers: ["Location": target]) }
    let listed = HTTPAuthorization(for: try origin.url("/"), try other.url("/")) { _ in
      ["X-Key": "k"]
    }
    let alone = HTTPAuthorization(for: try origin.url("/")) { _ in ["X-Key": "k"] }
    let url = try origin.url("/a")

    #expect(try await HTTPSource(authorization: listed).get(url).value == Data([1]))
    let refused = try await Recorder.outcome(of: HTTPSource(authorization: alone), url)

    #expect(refused.failureInWords == "status 401")
    #expect(other.exchanges.map { $0.request.headers["X-Key"] } == ["k", nil])
  }

  @Test func `nothing secret is in descriptions, dumps and errors`() async throws {
    let closed = try ClosedPort()
    let url = try #require(
      URL(string: "http://user:secret@127.0.0.1:\(closed.port)/a?token=secret#secret"))
    let request = HTTPRequest(
      url: url, method: .post, headers: ["Cookie": "secret"], credentials: ["X-Key": "secret"],
      body: .data(Data("secret".utf8)))
    let source = HTTPSource()
    let failed = Recorder<HTTPResponse>().subscribe(to: source.send(request))
    try await failed.ended()
    let again = Recorder<Data>().subscribe(to: source.get(url))
    try await again.ended()
    let parts = Recorder<HTTPPart>().subscribe(to: URLSessionTransport().send(request))
    try await parts.ended()

    let things: [Any] = [
      request, request.headers, request.credentials, failed.failure as Any, again.failure as Any,
      parts.failure as Any, TransferError.status(code: 401, headers: ["Set-Cookie": "secret"]),
      HTTPHead(status: 200, headers: ["Set-Cookie": "secret"]),
    ]
    for thing in things {
      var dumped = ""
      dump(thing, to: &dumped)
      let texts = ["\(thing)", String(reflecting: thing), dumped]
      #expect(!texts.joined().contains("secret"), "\(type(of: thing)): \(texts)")
    }
    #expect("\(request)" == "POST http://127.0.0.1:\(closed.port)/a?token=")
  }
}
