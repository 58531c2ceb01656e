import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct URLSessionTransportTests {
  let source = HTTPSource()

  @Test func `the parts are one head and then the bytes`() async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["X-A": "b"], body: Array(repeating: 7, count: 100_000))
    }
    let parts = Recorder<HTTPPart>()
      .subscribe(to: URLSessionTransport().send(HTTPRequest(url: try origin.url("/a"))))

    try await parts.ended()

    guard case .head(let head) = parts.values.first else { throw TransferError.tooLarge(limit: 0) }
    let body = parts.values.dropFirst().reduce(into: Data()) { body, part in
      if case .body(let bytes) = part { body += bytes }
    }
    #expect(head.status == 200)
    #expect(head.headers["x-a"] == "b")
    #expect(body == Data(repeating: 7, count: 100_000))
    #expect(parts.isCompleted)
  }

  @Test func `fields of the request reach the origin`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let request = HTTPRequest(url: try origin.url("/"), headers: ["X-A": "b"], priority: .high)

    try await Recorder<HTTPPart>().subscribe(to: URLSessionTransport().send(request)).ended()

    #expect(origin.exchanges.first?.request.headers["X-A"] == "b")
    #expect(origin.exchanges.first?.request.method == "GET")
  }

  @Test func `two hundred gets in sequence use one connection`() async throws {
    let origin = try LoopbackServer { request in Response(body: Array(request.path.utf8)) }

    for number in 0..<200 {
      let answer = try await source.get(origin.url("/\(number)")).value
      #expect(answer == Data("/\(number)".utf8))
    }

    #expect(origin.exchanges.count == 200)
    #expect(origin.openConnections == 1)
  }

  @Test(arguments: ["c", "./c", "../x/c", "/x/c", "?d", "c#e"], [301, 302, 303, 307, 308])
  func `a redirect is followed to where it points`(location: String, status: Int) async throws {
    let origin = try LoopbackServer { request in
      request.path == "/x/b"
        ? Response(status: status, headers: ["Location": location])
        : Response(body: Array(request.path.utf8))
    }

    let answer = try await source.get(origin.url("/x/b")).value

    #expect(answer == Data((location == "?d" ? "/x/b?d" : "/x/c").utf8))
  }

  @Test func `a redirect to another host is followed`() async throws {
    let other = try LoopbackServer { _ in Response(body: [1]) }
    let origin = try LoopbackServer { _ in
      Response(status: 302, headers: ["Location": "\(other.baseURL)/b"])
    }

    #expect(try await source.get(origin.url("/a")).value == Data([1]))
  }

  @Test func `a redirect loop ends after twenty redirects`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 302, headers: ["Location": "/a"]) }

    let answer = try await Recorder.outcome(of: source, origin.url("/a"))

    #expect(answer.failureInWords == "URLError \(URLError.httpTooManyRedirects.rawValue)")
    #expect(origin.requestCount(path: "/a") <= 21)
  }

  @Test(arguments: ["file:///etc/hostname", "ftp://127.0.0.1/a", "mailto:a@b", "data:,a"])
  func `a redirect to another scheme than HTTP's fails`(location: String) async throws {
    let origin = try LoopbackServer { _ in Response(status: 302, headers: ["Location": location]) }

    let answer = try await Recorder.outcome(of: source, origin.url("/a"))

    #expect(answer.failureInWords == "unsupported \(location)")
    #expect(origin.exchanges.count == 1)
  }

  @Test(arguments: [[:], ["Location": ""], ["Location": "http://["]] as [Headers])
  func `a redirect without a valid location fails`(headers: Headers) async throws {
    let origin = try LoopbackServer { _ in Response(status: 302, headers: headers) }

    let answer = try await Recorder.outcome(of: source, origin.url("/a"))

    #expect(answer.failure != nil)
  }

  @Test func `a refused connection is a URLError`() async throws {
    let closed = try ClosedPort()
    let url = try #require(URL(string: closed.baseURL))

    let answer = try await Recorder.outcome(of: source, url)

    #expect(answer.failureInWords == "URLError \(URLError.cannotConnectToHost.rawValue)")
  }

  @Test func `an unknown host is a URLError`() async throws {
    let url = try #require(URL(string: "http://nowhere.invalid/"))

    let answer = try await Recorder.outcome(of: source, url)

    #expect(answer.failure is URLError)
  }

  @Test func `a connection closed at once is a URLError`() async throws {
    let origin = try LoopbackServer { _ in .scripted([.close]) }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failureInWords == "URLError \(URLError.networkConnectionLost.rawValue)")
  }

  @Test(arguments: ["close", "reset"])
  func `a truncated body fails, and is no value`(way: String) async throws {
    let head = ScriptStep.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
    let origin = try LoopbackServer { _ in
      .scripted([head, way == "close" ? .close : .reset])
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failureInWords == "URLError \(URLError.networkConnectionLost.rawValue)")
    #expect(answer.values.isEmpty)
  }

  @Test
  func `a declared length that is too long fails, and one that is too short truncates the body`()
    async throws
  {
    let origin = try LoopbackServer { request in
      let length = request.path == "/long" ? "9" : "3"
      return Response(headers: ["Content-Length": length], body: [1, 2, 3, 4])
    }

    let long = try await Recorder.outcome(of: source, origin.url("/long"))
    let short = try await Recorder.outcome(of: source, origin.url("/short"))

    #expect(long.failure != nil)
    #expect(short.values == [Data([1, 2, 3])])
  }

  @Test(
    arguments: [
      "-1", "12abc", "99999999999999999999", "0x4", "4, 5", "+4", "4\r\nContent-Length: 5",
    ])
  func `an invalid declared length fails`(length: String) async throws {
    let origin = try LoopbackServer { _ in
      .scripted([
        .text("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(length)\r\n\r\n1234"),
        .close,
      ])
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failure != nil)
    #expect(answer.values.isEmpty)
  }

  @Test func `chunked framing overrides a length`() async throws {
    let origin = try LoopbackServer { _ in
      .scripted([
        .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"),
        .text("4\r\nabcd\r\n0\r\n\r\n"),
      ])
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.values == [Data("abcd".utf8)])
  }

  @Test(arguments: ["4\r\nab", "4\r\nabcd\r\n", "zz\r\nabcd\r\n", "10000000000000000\r\nabcd\r\n"])
  func `truncated or garbled chunks fail`(chunks: String) async throws {
    let origin = try LoopbackServer { _ in
      .scripted([.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"), .close])
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failure != nil)
    #expect(answer.values.isEmpty)
  }

  @Test func `a gzipped body arrives unpacked`() async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["Content-Encoding": "gzip"], body: Zipped.hello)
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.values == [Data("hello hello hello hello\n".utf8)])
    #expect(answer.progress.allSatisfy { $0.total == nil })
  }

  // A body that is cut after some of its text and framed as whole looks like a whole one.
  @Test(arguments: [Array("garbage".utf8), Array(Zipped.hello.prefix(10)), []])
  func `a gzipped body that is garbage, or truncated before its text, fails`(
    body: [UInt8]
  ) async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["Content-Encoding": "gzip"], body: body)
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failure != nil)
    #expect(answer.values.isEmpty)
  }

  @Test func `an empty body that is gzipped is a value`() async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["Content-Encoding": "gzip"], body: Zipped.nothing)
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.values == [Data()])
  }

  @Test(arguments: ["HTTP/1.1 999 Odd\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "hello\n"])
  func `an odd status fails`(head: String) async throws {
    let origin = try LoopbackServer { _ in .scripted([.text(head), .close]) }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failure != nil)
  }

  @Test func `a get of a URL of 64 kB ends`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let path = "/" + String(repeating: "a", count: 64 * 1024)

    let answer = try await Recorder.outcome(of: source, origin.url(path))

    #expect(answer.end != nil)
  }

  @Test(arguments: ["Basic realm=a", "Digest realm=a, nonce=b", "Negotiate", "Bearer", ""])
  func `401 is a status, whatever it asks for`(challenge: String) async throws {
    let origin = try LoopbackServer { _ in
      Response(status: 401, headers: ["WWW-Authenticate": challenge], body: [1])
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failureInWords == "status 401")
  }

  @Test func `an informational head is not the answer`() async throws {
    let origin = try LoopbackServer { _ in
      .scripted([
        .text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
        .text("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"),
      ])
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.values == [Data("a".utf8)])
  }

  @Test func `cookies are neither kept nor sent`() async throws {
    let origin = try LoopbackServer { _ in Response(headers: ["Set-Cookie": "a=b"]) }

    try await Recorder.outcome(of: source, origin.url("/"))
    try await Recorder.outcome(of: source, origin.url("/"))

    #expect(origin.exchanges.count == 2)
    #expect(origin.exchanges.allSatisfy { $0.request.headers["Cookie"] == nil })
  }
}

enum Zipped {
  /// An empty text, as `gzip -n` packs it.
  static let nothing: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]

  /// "hello hello hello hello\n", as `gzip -n` packs it.
  static let hello: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 203, 72, 205, 201, 201, 87, 200, 64, 39, 185, 0, 0, 136,
    89, 11, 24, 0, 0, 0,
  ]
}
