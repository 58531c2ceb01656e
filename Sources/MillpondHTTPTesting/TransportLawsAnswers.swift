import Foundation
import LoopbackServer
import Millpond
import MillpondSignals
import MillpondTesting

// The laws about answers.
extension TransportLawsScene {
  mutating func laziness() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1]) }
    let signal = transport.send(HTTPRequest(url: try origin.url("/")))
    _ = await answer(to: HTTPRequest(url: try origin.url("/marker")))
    expect(
      origin.requestCount(path: "/") == 0, "a request was sent without a subscription")

    for _ in 0..<2 { _ = await answer(to: signal) }
    let count = origin.requestCount(path: "/")
    expect(count == 2, "two subscriptions sent \(count) requests")
  }

  mutating func parts() async throws {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let origin = try LoopbackServer { request in
      switch request.path {
      case "/empty": Response()
      case "/204": Response(status: 204)
      case "/hints":
        .scripted([
          .text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
          .text("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"),
        ])
      case "/chunks":
        .scripted([
          .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
          .text("1\r\nd\r\n0\r\n\r\n"),
        ])
      default: Response(body: bytes)
      }
    }
    let expected: [(String, Int, [UInt8])] = [
      ("/", 200, bytes), ("/empty", 200, []), ("/204", 204, []), ("/hints", 200, Array("a".utf8)),
      ("/chunks", 200, Array("abcd".utf8)),
    ]
    for (path, status, body) in expected {
      let answer = await answer(to: HTTPRequest(url: try origin.url(path)))
      expect(answer, status, body, to: path)
      expect(answer.beginsWithHead, "\(path): bytes came before the head")
    }
  }

  mutating func statuses() async throws {
    let origin = try LoopbackServer { request in
      let status = Int(request.path.dropFirst()) ?? 200
      let challenge: Headers = status == 401 ? ["WWW-Authenticate": "Basic realm=a"] : [:]
      return Response(status: status, headers: challenge, body: [1, 2])
    }
    for status in [200, 201, 206, 400, 401, 403, 404, 409, 416, 429, 500, 503] {
      let answer = await answer(to: HTTPRequest(url: try origin.url("/\(status)")))
      expect(answer, status, [1, 2], to: "status \(status)")
    }
    let unchanged = await answer(to: HTTPRequest(url: try origin.url("/304")))
    expect(unchanged, 304, [], to: "status 304")
  }

  mutating func fields() async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["ETag": "\"7\"", "X-Odd": "a, b;c=\"d\""])
    }
    let request = HTTPRequest(
      url: try origin.url("/a?b=c%20d"), headers: ["X-One": "1", "Accept": "image/webp"],
      credentials: ["X-Key": "k", "Authorization": "Bearer t"])

    let answer = await answer(to: request)

    let sent = origin.exchanges.first?.request
    expect(sent?.path == "/a?b=c%20d", "the path arrived as \(sent?.path ?? "none")")
    for (name, value) in request.fields.fields {
      let values = sent?.headers.fields.filter { $0.name.lowercased() == name.lowercased() }
        .map(\.value)
      expect(
        values == [value], "the field \(name) arrived with the values \(values ?? [])")
    }
    let head = answer.heads.first
    expect(head?.headers["etag"] == "\"7\"", "the answer's ETag is missing or changed")
    expect(
      head?.headers["X-Odd"] == "a, b;c=\"d\"", "the answer's X-Odd is missing or changed")
  }

  mutating func encoding() async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["Content-Encoding": "gzip"], body: Self.packedHello)
    }
    let answer = await answer(
      to: HTTPRequest(url: try origin.url("/"), headers: ["Accept-Encoding": "gzip"]))
    expect(answer, 200, Array("hello hello hello hello\n".utf8), to: "a gzipped body")
    expect(
      answer.heads.first?.headers["Content-Encoding"] != nil,
      "the head has lost its Content-Encoding, so the length would be checked")
  }

  /// "hello hello hello hello\n", as `gzip -n` packs it.
  private static let packedHello: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 203, 72, 205, 201, 201, 87, 200, 64, 39, 185, 0, 0, 136,
    89, 11, 24, 0, 0, 0,
  ]

  mutating func independence() async throws {
    let origin = try LoopbackServer { _ in
      Response(
        headers: ["Set-Cookie": "a=b", "Cache-Control": "max-age=60", "ETag": "\"7\""], body: [1])
    }
    for number in 1...2 {
      expect(
        await answer(to: HTTPRequest(url: try origin.url("/"))), 200, [1], to: "get \(number)")
    }
    let exchanges = origin.exchanges
    expect(exchanges.count == 2, "two gets sent \(exchanges.count) requests")
    for name in ["Cookie", "If-None-Match"] {
      expect(
        exchanges.allSatisfy { $0.request.headers[name] == nil },
        "\(name) was sent because of an earlier answer")
    }
  }

  mutating func concurrency() async throws {
    let origin = try LoopbackServer { request in Response(body: Array(request.path.utf8)) }
    let urls = try (0..<50).map { try origin.url("/\($0)") }
    let answers = await withTaskGroup { [self] group in
      for url in urls { group.addTask { (url.path, await answer(to: HTTPRequest(url: url))) } }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    for (path, answer) in answers.sorted(by: { $0.key < $1.key }) {
      expect(answer, 200, Array(path.utf8), to: "\(path) of 50 at a time")
    }
  }
}
