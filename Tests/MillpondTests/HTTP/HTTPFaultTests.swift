import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct HTTPFaultTests {
  private let source = HTTPSource()

  @Test func `a head over the limit fails, and one of exactly the limit does not`() async throws {
    let transport = TestTransport()
    let url = try #require(URL(string: "http://a"))
    // Each field counts its name, its value and four bytes.
    for (value, outcome) in [("12", nil), ("123", "head of more than 7")] as [(String, String?)] {
      let source = HTTPSource(transport: transport, limits: HTTPLimits(headerByteLimit: 7))
      let answer = Recorder<Data>().subscribe(to: source.get(url))
      transport.source.next(.head(HTTPHead(status: 200, headers: ["A": value])))
      transport.source.completed()
      try await answer.ended()
      #expect(answer.failureInWords == outcome)
    }
  }

  @Test func `a head of twenty thousand empty fields exceeds the limit`() async throws {
    let transport = TestTransport()
    let url = try #require(URL(string: "http://a"))
    let answer = Recorder<Data>().subscribe(to: HTTPSource(transport: transport).get(url))

    let fields = Array(repeating: (name: "", value: ""), count: 20_000)
    transport.source.next(.head(HTTPHead(status: 200, headers: HeaderFields(fields))))

    try await answer.ended()
    #expect(answer.failureInWords == "head of more than 65536")
    #expect(transport.source.disposals == 1)
  }

  @Test func `a head over the limit fails whatever its status`() async throws {
    let transport = TestTransport()
    let url = try #require(URL(string: "http://a"))
    let source = HTTPSource(transport: transport, limits: HTTPLimits(headerByteLimit: 0))
    let answer = Recorder<Data>().subscribe(to: source.get(url))

    transport.source.next(.head(HTTPHead(status: 103, headers: ["Link": "a"])))

    try await answer.ended()
    #expect(answer.failureInWords == "head of more than 0")
  }

  @Test func `a long head from an origin fails at the limit`() async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["X-A": String(repeating: "a", count: 70_000)], body: [1])
    }

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failureInWords == "head of more than 65536")
  }

  @Test(
    arguments: [
      ["Cache-Control": "max-age=99999999999999999999999"], ["Cache-Control": "max-age=-1"],
      ["Age": "-99999999999999999999"], ["Date": "yesterday"], ["Expires": "-1"],
      ["Last-Modified": "Sun, 99 Foo 99999999999 99:99:99 GMT"], ["ETag": "\""], ["ETag": ""],
      ["Vary": "*"], ["Retry-After": "-1"], ["Content-Range": "bytes 9-0/-1"],
    ] as [Headers])
  func `header fields that say nothing of the body are accepted as they are`(
    headers: Headers
  ) async throws {
    let origin = try LoopbackServer { _ in Response(headers: headers, body: [1]) }

    #expect(try await source.get(origin.url("/")).value == Data([1]))
  }

  @Test func `a refused connection says what happened and where, without secrets`() async throws {
    let closed = try ClosedPort()
    let url = try #require(URL(string: closed.baseURL + "/a?token=secret"))

    let error = try #require(try await Recorder.outcome(of: source, url).failure)

    for text in ["\(error)", error.localizedDescription] {
      #expect(text.contains("\(closed.baseURL)/a?token") && !text.contains("secret"))
    }
    #expect(!"\(error)".contains("(null)"))
    #expect((error as? URLError)?.code == .cannotConnectToHost)
  }

  @Test func `an expired certificate fails the get`() async throws {
    let origin = try LoopbackServer(greeting: [.send(Handshake.expired)])
    let url = try #require(URL(string: "https://127.0.0.1:\(origin.port)/"))

    let answer = try await Recorder.outcome(of: source, url)

    let code = (answer.failure as? URLError)?.code
    #expect(code == .serverCertificateUntrusted || code == .serverCertificateHasBadDate)
    #expect(await origin.eventually { $0.openConnections == 0 })
  }

  #if !os(Linux)
    @Test func `a connection closed inside the head fails the get`() async throws {
      let origin = try LoopbackServer { _ in
        .scripted([.text("HTTP/1.1 200 OK\r\nContent-"), .close])
      }

      #expect(try await Recorder.outcome(of: source, origin.url("/")).failure != nil)
    }
  #endif
}
