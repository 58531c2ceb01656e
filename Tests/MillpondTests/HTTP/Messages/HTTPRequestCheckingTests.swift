import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct HTTPRequestCheckingTests {
  static let url = URL(string: "http://a/b?token=secret") ?? URL(filePath: "/")

  /// Sends a request by a transport that must not be asked, and returns the failure in words.
  private func failure(of request: HTTPRequest) async throws -> String {
    let transport = TestTransport()
    let source = HTTPSource(transport: transport)
    let answer = Recorder<HTTPResponse>().subscribe(to: source.send(request))
    try await answer.ended()
    #expect(transport.source.subscriptions == 0)
    #expect(answer.failureInWords == "invalid request")
    // The default transport refuses it too, for those who use it alone.
    let parts = Recorder<HTTPPart>().subscribe(to: URLSessionTransport().send(request))
    try await parts.ended()
    #expect(parts.failureInWords == "invalid request")
    return answer.failure?.localizedDescription ?? ""
  }

  @Test(arguments: [
    "", " ", "GET /x HTTP/1.1\r\nX: y", "GET\n", "G\u{0}T", "gét", "a b", "(", "CONNECT",
    "connect\t",
    String(repeating: "é", count: 10_000),
  ])
  func `a method that is no token never reaches a transport`(name: String) async throws {
    let text = try await failure(of: HTTPRequest(url: Self.url, method: HTTPMethod(name)))

    #expect(text.contains("the method is not a token") || name == "CONNECT")
    #expect(!text.contains("secret"))
  }

  @Test(arguments: ["", "A B", "A:", "A\r\nB", "É", "\u{0}"])
  func `the name of a field that is no token never reaches a transport`(name: String) async throws {
    _ = try await failure(of: HTTPRequest(url: Self.url, headers: HeaderFields([(name, "secret")])))
  }

  @Test(arguments: ["secret\r\nX-B: c", "secret\n", "\rsecret", "secret\u{0}", "secret\u{7f}"])
  func `a line break in a field never reaches a transport, nor the error`(value: String)
    async throws
  {
    for request in [
      HTTPRequest(url: Self.url, headers: ["X-A": value]),
      HTTPRequest(url: Self.url, credentials: ["X-A": value]),
      HTTPRequest.post(Self.url, .data(Data(), contentType: value)),
    ] {
      #expect(!(try await failure(of: request)).contains("secret"))
    }
  }

  @Test func `a line break in obtained credentials never reaches a transport`() async throws {
    let transport = TestTransport()
    let account = HTTPAuthorization(for: Self.url) { _ in ["X-Key": "secret\r\nX-B: c"] }
    let source = HTTPSource(transport: transport, authorization: account)

    let answer = Recorder<Data>().subscribe(to: source.get(Self.url))
    try await answer.ended()

    #expect(answer.failureInWords == "invalid request")
    #expect(answer.failure?.localizedDescription.contains("secret") == false)
    #expect(transport.source.subscriptions == 0)
  }

  @Test(arguments: ["Content-Length", "content-length", "Transfer-Encoding"])
  func `fields that frame the message are the transport's`(name: String) async throws {
    let headers = HeaderFields([(name, "1")])

    _ = try await failure(
      of: .post(Self.url, .data(Data([1, 2])), headers: headers))
  }

  @Test(arguments: [HTTPMethod.get, .head, "TRACE"])
  func `a body with a method that has none is refused`(method: HTTPMethod) async throws {
    let text = try await failure(
      of: HTTPRequest(url: Self.url, method: method, body: .data(Data([1]))))

    #expect(text.contains("has no body"))
  }

  @Test func `usual and odd fields are well-formed`() {
    let headers: HeaderFields = [
      "X-A": "", "X-B": "a\tb", "X-C": "é ü", "!#$%&'*+-.^_`|~": "ok", "Cookie": "a=b; c=\"d\"",
    ]

    #expect(HTTPRequest(url: Self.url, method: "M-SEARCH", headers: headers).problem == nil)
  }

  @Test(arguments: [
    ("get", HTTPMethod.get), ("Post", .post), ("dElEtE", .delete), ("purge", "purge"),
  ])
  func `the usual methods are recognised in any case`(name: String, method: HTTPMethod) {
    #expect(HTTPMethod(name) == method)
  }

  @Test func `an unknown method is neither safe nor idempotent, unless declared`() {
    let request = HTTPRequest(url: Self.url, method: "PURGE")

    #expect(!request.isSafe && !request.isIdempotent)
    #expect(!request.assumedIdempotent().isSafe && request.assumedIdempotent().isIdempotent)
    #expect(request.assumedSafe().isSafe && request.assumedSafe().isIdempotent)
    #expect(request.assumedSafe().assumedIdempotent().isSafe)
  }

  @Test(arguments: [
    (HTTPMethod.get, true, true), (.head, true, true), (.options, true, true), (.put, false, true),
    (.delete, false, true), (.post, false, false), (.patch, false, false), ("TRACE", true, true),
    ("QUERY", true, true), ("PROPFIND", true, true), ("REPORT", true, true),
    ("SEARCH", true, true), ("CONNECT", false, false), ("LOCK", false, false),
  ])
  func `methods are safe and idempotent by the RFC and the registry`(
    method: HTTPMethod, isSafe: Bool, isIdempotent: Bool
  ) {
    #expect(method.isSafe == isSafe)
    #expect(method.isIdempotent == isIdempotent)
  }
}
