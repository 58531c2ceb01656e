import Foundation
import LoopbackServer
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(1))) struct HTTPSendingTests {
  struct Order: Codable, Equatable {
    let id: Int
  }

  struct Trouble: Error {}

  let api = HTTPSource()

  private func outcome(
    of request: HTTPRequest, by source: HTTPSource<URL>? = nil, accepting: Range<Int> = 200..<300
  ) async throws -> Recorder<HTTPResponse> {
    let recorder = Recorder<HTTPResponse>()
      .subscribe(to: (source ?? api).send(request, accepting: accepting))
    try await recorder.ended()
    #expect(recorder.violations.isEmpty)
    return recorder
  }

  @Test func `JSON is posted, and the answer is read`() async throws {
    let origin = try LoopbackServer { Response(status: 201, body: $0.body) }

    let response = try await api.send(.post(origin.url("/orders"), .json(Order(id: 7)))).value

    #expect(response.status == 201)
    #expect(try response.json(Order.self) == Order(id: 7))
    let sent = try #require(origin.exchanges.first).request
    #expect(sent.method == "POST" && sent.headers["Content-Type"] == "application/json")
    #expect(throws: DecodingError.self) { try response.json(String.self) }
  }

  @Test func `a status that is not accepted is a failure, and one that is has its body`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(status: 422, body: [1, 2]) }
    let request = HTTPRequest.post(try origin.url("/"), .data(Data([1])))

    let refused = try await outcome(of: request)
    let accepted = try await outcome(of: request, accepting: 200..<500)

    #expect(refused.failureInWords == "status 422")
    #expect(accepted.values.map(\.status) == [422])
    #expect(accepted.values.map(\.body) == [Data([1, 2])])
  }

  @Test(arguments: ["Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\"", "Bearer", ""])
  func `a refusal is read to its end, whatever its challenge`(challenge: String) async throws {
    let origin = try LoopbackServer { _ in
      Response(status: 401, headers: ["WWW-Authenticate": challenge], body: [1, 2])
    }

    for request in [HTTPRequest(url: try origin.url("/")), .post(try origin.url("/"))] {
      let answer = try await outcome(of: request, accepting: 200..<500)
      #expect(answer.values.map(\.body) == [Data([1, 2])])
    }
    #expect(await origin.eventually { $0.exchanges.count == 2 })
  }

  @Test func `a POST through an HTTP cache invalidates the stored answer of its URL`() async throws
  {
    let origin = try LoopbackServer { _ in
      Response(headers: ["Cache-Control": "max-age=3600"], body: [1])
    }
    let url = try origin.url("/")
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 10)
    let source = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store))

    for _ in 0..<2 { _ = try await source.get(url).value }
    _ = try await source.send(.post(url, .data(Data([1])))).value
    _ = try await source.get(url).value

    #expect(origin.exchanges.map(\.request.method) == ["GET", "POST", "GET"])
  }

  @Test func `the answer to HEAD has a length and no body`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array(repeating: 1, count: 100)) }

    let answer = try await outcome(of: .head(try origin.url("/")))

    #expect(answer.values.map(\.body) == [Data()])
    #expect(answer.values.first?.headers["Content-Length"] == "100")
  }

  @Test func `a get sends nothing that is not safe, unless it is declared to be`() async throws {
    let origin = try LoopbackServer { Response(body: $0.body) }
    let url = try origin.url("/search")
    let refused = HTTPSource { (text: String) in .post(url, .data(Data(text.utf8))) }
    let declared = HTTPSource { (text: String) in
      HTTPRequest.post(url, .data(Data(text.utf8))).assumedSafe()
    }

    let answer = try await Recorder<Data>().subscribe(to: refused.get("a")).ended()
    let pieces = try await Recorder<Data>().subscribe(to: refused.pieces(of: "a")).ended()

    #expect("\(answer)".contains("not safe") && "\(pieces)".contains("not safe"))
    #expect(origin.exchanges.isEmpty)
    let found = try await declared.reusingInFlight().get("b").value
    #expect(found == Data("b".utf8))
  }

  @Test func `a request that is not idempotent is sent once, whatever repeats the signal`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(status: 503) }
    let url = try origin.url("/")
    let signal = api.send(.post(url, .data(Data([1])))).retry(.immediate(attempts: 3))

    let answer = Recorder<HTTPResponse>().subscribe(to: signal)
    try await answer.ended()

    #expect(answer.failureInWords == "POST not repeated")
    #expect(answer.failure?.localizedDescription.contains("status 503") == true)
    #expect(origin.exchanges.count == 1)
  }

  @Test func `a request that may be repeated is`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 503) }
    let requests = [
      HTTPRequest.put(try origin.url("/1"), .data(Data([1]))), .delete(try origin.url("/2")),
      .post(try origin.url("/3"), headers: ["Idempotency-Key": "1"]).assumedIdempotent(),
    ]

    for request in requests {
      let answer = Recorder<HTTPResponse>()
        .subscribe(to: api.send(request).retry(.immediate(attempts: 3)))
      try await answer.ended()
      #expect(answer.failureInWords == "status 503")
    }
    #expect(origin.exchanges.count == 9)
  }

  @Test func `a request that was never sent may be sent again`() async throws {
    let closed = try ClosedPort()
    let url = try #require(URL(string: closed.baseURL))
    let signal = api.send(.post(url, .data(Data([1]))))

    for _ in 0..<2 {
      let answer = try await Recorder<HTTPResponse>().subscribe(to: signal).ended()
      guard case .failed(let error) = answer else { throw Trouble() }
      #expect((error as? URLError)?.code == .cannotConnectToHost)
      #expect(error.isTransient)
    }
  }

  @Test func `progress counts the sent bytes of an upload, whose total is known`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array(repeating: 1, count: 200_000)) }
    let file = try TemporaryFile(Data(repeating: 7, count: 3_000_000))

    let answer = try await outcome(of: .put(try origin.url("/"), .file(file.url)))

    let sent = answer.progress.filter { $0.total == 3_000_000 }.map(\.completed)
    #expect(!sent.isEmpty && sent == sent.sorted())
    #expect(origin.exchanges.first?.request.body.count == 3_000_000)
    #expect(origin.exchanges.first?.request.headers["Content-Length"] == "3000000")
  }

  @Test func `an upload whose bytes are being sent is no silence`() async throws {
    let transport = TestTransport()
    let clock = ManualClock()
    let source = HTTPSource(
      transport: transport, limits: HTTPLimits(idleTimeout: .seconds(10)), clock: clock)
    let url = try #require(URL(string: "http://a/"))
    let answer = Recorder<HTTPResponse>().subscribe(to: source.send(.post(url, .data(Data([1])))))
    try await transport.source.subscriptions(count: 1)

    for step in 1...5 {
      clock.advance(by: .seconds(8))
      transport.source.progress(SignalProgress(completed: step, total: 5))
    }
    #expect(answer.end == nil)
    clock.advance(by: .seconds(10))

    try await answer.ended()
    #expect(answer.failureInWords == "idle")
  }

  @Test func `progress after the head is that of the answer, not of the request`() async throws {
    let transport = TestTransport()
    let source = HTTPSource(transport: transport)
    let url = try #require(URL(string: "http://a/"))
    let answer = Recorder<HTTPResponse>().subscribe(to: source.send(.post(url, .data(Data([1])))))
    try await transport.source.subscriptions(count: 1)

    transport.source.next(.head(HTTPHead(status: 200, headers: ["Content-Length": "100000"])))
    transport.source.progress(SignalProgress(completed: 77, total: 77))
    transport.source.next(.body(Data(count: 100_000)))
    transport.source.completed()

    try await answer.ended()
    #expect(answer.progress.allSatisfy { $0.total == 100_000 })
  }

  @Test func `a stream of pieces is sent with its length, and its file is removed`() async throws {
    let origin = try LoopbackServer { Response(body: $0.body) }
    let others = Self.spooledFiles
    let pieces = AsyncStream<Data> { continuation in
      for number in 0..<10 { continuation.yield(Data(repeating: UInt8(number), count: 10_000)) }
      continuation.finish()
    }

    let answer = try await outcome(of: .post(try origin.url("/"), .stream(pieces)))

    #expect(answer.values.first?.body.count == 100_000)
    #expect(origin.exchanges.first?.request.headers["Content-Length"] == "100000")
    await Self.allRemoved(but: others)
  }

  @Test func `a stream that fails fails the request with its error, and nothing is sent`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response() }
    let others = Self.spooledFiles
    let pieces = Signal.just(Data([1])).concat(.fail(Trouble()))

    let answer = try await outcome(of: .post(try origin.url("/"), .stream(pieces)))

    #expect(answer.failure is Trouble)
    #expect(origin.exchanges.isEmpty)
    await Self.allRemoved(but: others)
  }

  @Test func `a stream that never ends is left by the time limit, and its file removed`()
    async throws
  {
    let clock = ManualClock()
    let pieces = TestSource<Data>()
    let source = HTTPSource(limits: HTTPLimits(idleTimeout: .seconds(10)), clock: clock)
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let answer = Recorder<HTTPResponse>()
      .subscribe(to: source.send(.post(url, .stream(pieces.signal))))
    pieces.next(Data([1]))

    while answer.end == nil {
      clock.advance(by: .seconds(10))
      await Task.yield()
    }

    #expect(answer.failureInWords == "idle")
    try await pieces.disposals(count: 1)
  }

  @Test func `leaving disposes of the stream`() async throws {
    let pieces = TestSource<Data>()
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let answer = Recorder<HTTPResponse>()
      .subscribe(to: api.send(.post(url, .stream(pieces.signal))))
    try await pieces.subscriptions(count: 1)

    answer.dispose()

    #expect(pieces.disposals == 1)
    #expect(answer.events.isEmpty)
  }

  @Test func `a file that is not there fails the request at once`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let file = try TemporaryFile(Data([1]))
    try FileManager.default.removeItem(at: file.url)

    let answer = try await outcome(of: .put(try origin.url("/"), .file(file.url)))

    #expect(answer.failureInWords == "invalid request")
    #expect(answer.failure?.localizedDescription.contains(file.url.lastPathComponent) == true)
    #expect(origin.exchanges.isEmpty)
  }

  @Test(arguments: [307, 308])
  func `a redirect that keeps the method sends the body again`(status: Int) async throws {
    let origin = try LoopbackServer { request in
      request.path == "/a"
        ? Response(status: status, headers: ["Location": "/b"], body: [9])
        : Response(body: request.body)
    }
    let file = try TemporaryFile(Data(repeating: 7, count: 100_000))
    let bodies: [HTTPBody] = [
      .data(Data([1, 2])), .file(file.url), .stream(.of(Data([1]), Data([2]))),
    ]

    for body in bodies {
      let answer = try await outcome(of: .post(try origin.url("/a"), body))
      #expect(answer.values.first?.body.count == body.length ?? 2)
    }
    #expect(origin.exchanges.map(\.request.method) == Array(repeating: "POST", count: 6))
  }

  @Test func `a loop of redirects with a body ends after twenty`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 307, headers: ["Location": "/a"]) }

    let answer = try await outcome(of: .post(try origin.url("/a"), .data(Data([1]))))

    #expect(answer.failureInWords == "URLError \(URLError.httpTooManyRedirects.rawValue)")
    #expect(origin.exchanges.count == 21)
  }

  @Test func `refused credentials have the body sent again, or say that it can't be`() async throws
  {
    let origin = try LoopbackServer { request in
      request.headers["X-Key"] == "new" ? Response(body: request.body) : Response(status: 401)
    }
    let pieces = AsyncStream<Data> { continuation in
      continuation.yield(Data([1]))
      continuation.finish()
    }
    for (body, failure) in [
      (HTTPBody.data(Data([1])), nil), (.stream(.just(Data([1]))), nil),
      (.stream(pieces), "sent already"),
    ] {
      let account = HTTPAuthorization(for: try origin.url("/")) {
        ["X-Key": $0 == nil ? "old" : "new"]
      }
      let answer = try await outcome(
        of: .post(try origin.url("/"), body), by: HTTPSource(authorization: account))
      if let failure {
        #expect(answer.failure?.localizedDescription.contains(failure) == true)
      } else {
        #expect(answer.values.map(\.body) == [Data([1])])
      }
    }
  }

  @Test(arguments: [nil, HTTPBody.data(Data([1, 2, 3]))])
  func `a lost connection that was used before does not have a POST sent twice`(body: HTTPBody?)
    async throws
  {
    let origin = try LoopbackServer { request in
      request.method == "GET" ? Response() : .scripted([.close])
    }
    let url = try origin.url("/")
    _ = try await api.get(url).value

    let answer = try await outcome(of: .post(url, body))

    #expect(answer.failureInWords == "URLError \(URLError.networkConnectionLost.rawValue)")
    #expect(origin.exchanges.count == 2)
  }

  @Test func `requests with bodies leave no connection open`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    for _ in 0..<50 { _ = try await outcome(of: .post(try origin.url("/"), .data(Data([1])))) }

    #expect(await origin.eventually { $0.openConnections == 0 })
  }

  @Test func `uploads that are left at any moment end, and leave nothing behind`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let url = try origin.url("/")
    let file = try TemporaryFile(Data(repeating: 7, count: 4_000_000))

    for number in 0..<60 {
      let started = Watched(0)
      let answer = Recorder<HTTPResponse>()
      answer.subscribe(to: api.send(.put(url, .file(file.url)))) { event in
        started.change { $0 += event.isTerminal ? 100 : 1 }
      }
      try await started.wait(for: "an event") { $0 > number % 5 }
      answer.dispose()
    }

    _ = try await outcome(of: .put(url, .data(Data([1]))))
    #expect(await origin.eventually { $0.openConnections == 0 })
  }

  @Test(arguments: [0, 1, 1_000_000])
  func `a field of any size and an empty body end the request`(size: Int) async throws {
    let origin = try LoopbackServer { _ in Response() }
    let request = HTTPRequest.post(
      try origin.url("/"), .data(Data()), headers: ["X-A": String(repeating: "a", count: size)])

    let answer = try await outcome(of: request)

    #expect(answer.isCompleted == (size < 1_000) || size > 1_000)
    if size < 1_000 { #expect(origin.exchanges.first?.request.headers["Content-Length"] == "0") }
  }

  private static var spooledFiles: Set<String> {
    let folder = FileManager.default.temporaryDirectory.path
    return Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .filter { $0.hasPrefix("millpond-body-") }
  }

  /// Waits until no spooled file is left, but for those of earlier processes.
  ///
  /// The session may hold a body for a moment after its answer, and other tests make files, too.
  private static func allRemoved(but others: Set<String>) async {
    while !spooledFiles.isSubset(of: others) { await Task.yield() }
  }
}
