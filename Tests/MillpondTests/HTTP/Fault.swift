import Foundation
import LoopbackServer

/// A misbehaviour of an origin that leaves no value.
enum Fault: String, CaseIterable, Sendable {
  case refused, unknownHost, closedAtOnce, cutBody, resetBody, tooFewBytes, negativeLength
  case garbageLength, twoLengths, hugeLength, cutChunk, garbageChunk, hugeChunk, endlessChunkSize
  case garbageGzip, cutGzip, silence, redirectLoop, redirectToFile, redirectToNowhere
  case serverError, unavailable, unasked304, unasked206, status999, statusOfWords, notHTTP
  case manyHeaders, longHeader, tooLarge, expiredCertificate, plainForTLS

  /// Returns an origin that misbehaves so, or an idle one if the fault needs none.
  func origin() throws -> LoopbackServer {
    switch self {
    case .expiredCertificate: try LoopbackServer(greeting: [.send(Handshake.expired)])
    case .plainForTLS: try LoopbackServer(greeting: [.text("hello\n"), .close])
    default: try LoopbackServer { _ in response }
    }
  }

  func url(at origin: LoopbackServer) -> URL? {
    switch self {
    case .unknownHost: return URL(string: "http://nowhere.invalid/")
    case .expiredCertificate, .plainForTLS: return URL(string: "https://127.0.0.1:\(origin.port)/")
    case .refused: return Self.closed.flatMap { URL(string: $0.baseURL) }
    default: return URL(string: origin.baseURL + "/fault")
    }
  }

  private static let closed = try? ClosedPort()

  private var response: Response {
    switch self {
    case .refused, .unknownHost, .expiredCertificate, .plainForTLS: Response()
    case .closedAtOnce: .scripted([.close])
    case .cutBody: .scripted([Self.head("Content-Length: 9"), .text("123"), .close])
    case .resetBody: .scripted([Self.head("Content-Length: 9"), .text("123"), .reset])
    case .tooFewBytes: Response(headers: ["Content-Length": "9"], body: [1])
    case .negativeLength: Self.closing("Content-Length: -1")
    case .garbageLength: Self.closing("Content-Length: 12abc")
    case .twoLengths: Self.closing("Content-Length: 4\r\nContent-Length: 5")
    case .hugeLength: Self.closing("Content-Length: 99999999999999999999")
    case .cutChunk: Self.closing("Transfer-Encoding: chunked", "4\r\nab")
    case .garbageChunk: Self.closing("Transfer-Encoding: chunked", "zz\r\nab\r\n")
    case .hugeChunk: Self.closing("Transfer-Encoding: chunked", "10000000000000000\r\nab\r\n")
    case .endlessChunkSize:
      Self.closing("Transfer-Encoding: chunked", String(repeating: "0", count: 100_000))
    case .garbageGzip:
      Response(headers: ["Content-Encoding": "gzip"], body: Array("garbage".utf8))
    case .cutGzip:
      Response(headers: ["Content-Encoding": "gzip"], body: Array(Zipped.hello.prefix(10)))
    case .silence: Response().held(by: ResponseHold())
    case .redirectLoop: Response(status: 302, headers: ["Location": "/fault"])
    case .redirectToFile: Response(status: 302, headers: ["Location": "file:///etc/hostname"])
    case .redirectToNowhere: Response(status: 302)
    case .serverError: Response(status: 500, body: [1])
    case .unavailable: Response(status: 503, headers: ["Retry-After": "7"])
    case .unasked304: Response(status: 304, headers: ["ETag": "\"1\""])
    case .unasked206: Response(status: 206, headers: ["Content-Range": "bytes 0-0/2"], body: [1])
    case .status999: .scripted([.text("HTTP/1.1 999 Odd\r\n\r\n"), .close])
    case .statusOfWords: .scripted([.text("HTTP/1.1 abc\r\n\r\n"), .close])
    case .notHTTP: .scripted([.text("hello\n"), .close])
    case .manyHeaders:
      // Not many thousand: Linux's URLSession would be busy with them for seconds.
      Self.closing(
        (0..<1_000).map { "X-\($0): " + String(repeating: "a", count: 100) }
          .joined(separator: "\r\n"))
    case .longHeader: Self.closing("X-A: " + String(repeating: "a", count: 5 << 20))
    case .tooLarge: Response(body: Array(repeating: 1, count: 2_000))
    }
  }

  private static func head(_ fields: String) -> ScriptStep {
    .text("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n")
  }

  private static func closing(_ fields: String, _ body: String = "1234") -> Response {
    .scripted([head("Connection: close\r\n\(fields)"), .text(body), .close])
  }
}
