import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct HTTPSourceTests {
  @Test func `a get is the body, and one request`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array("hello".utf8)) }

    let answer = try await Recorder.outcome(of: HTTPSource(), origin.url("/a"))

    #expect(answer.values == [Data("hello".utf8)])
    #expect(answer.isCompleted)
    #expect(origin.requestCount(path: "/a") == 1)
  }

  @Test func `nothing is asked before the signal is subscribed to`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let source = HTTPSource()

    _ = source.get(try origin.url("/a"))
    try await Recorder.outcome(of: source, origin.url("/b"))

    #expect(origin.exchanges.map(\.request.path) == ["/b"])
  }

  @Test func `an empty body is a value`() async throws {
    let origin = try LoopbackServer { request in
      Response(status: request.path == "/204" ? 204 : 200)
    }

    #expect(try await HTTPSource().get(origin.url("/200")).value == Data())
    #expect(try await HTTPSource().get(origin.url("/204")).value == Data())
  }

  @Test func `entity tag and date travel with the value`() async throws {
    let date = "Tue, 15 Nov 1994 12:45:26 GMT"
    let origin = try LoopbackServer { request in
      request.path == "/plain"
        ? Response() : Response(headers: ["etag": "\"7\"", "Last-Modified": date])
    }

    let stamped = try await HTTPSource().getStamped(origin.url("/a"), Lookup()).value
    let plain = try await HTTPSource().getStamped(origin.url("/plain"), Lookup()).value

    #expect(stamped.validator == Validator(entityTag: "\"7\"", lastModified: date))
    #expect(stamped.age == .zero)
    #expect(plain.validator == nil)
  }

  @Test func `progress counts bytes up to the length that was declared`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array(repeating: 1, count: 300_000)) }

    let answer = try await Recorder.outcome(of: HTTPSource(), origin.url("/"))

    #expect(answer.progress.last == .init(completed: 300_000, total: 300_000))
    #expect(answer.progress.allSatisfy { $0.total == 300_000 })
    #expect(answer.progress.map(\.completed) == answer.progress.map(\.completed).sorted())
  }

  @Test func `progress without a declared length has no total`() async throws {
    let origin = try LoopbackServer { _ in
      .scripted([.text("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n1234"), .close])
    }

    let answer = try await Recorder.outcome(of: HTTPSource(), origin.url("/"))

    #expect(answer.values == [Data("1234".utf8)])
    #expect(answer.progress.last == .init(completed: 4, total: nil))
  }

  @Test func `progress comes while the body is on its way`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in
      Response(body: Array(repeating: 1, count: 10)).held(by: hold, afterBodyBytes: 4)
    }
    let answer = Recorder<Data>()

    answer.subscribe(to: HTTPSource().get(try origin.url("/"))) { event in
      if case .progress(let progress) = event, progress.completed == 4 { hold.release() }
    }

    try await answer.ended()
    #expect(answer.values == [Data(repeating: 1, count: 10)])
  }

  @Test(arguments: [300, 304, 400, 404, 410, 416, 500, 503])
  func `a status that is not 2xx fails`(status: Int) async throws {
    let origin = try LoopbackServer { _ in Response(status: status, body: [1]) }

    let answer = try await Recorder.outcome(of: HTTPSource(), origin.url("/"))

    #expect(answer.failureInWords == "status \(status)")
  }

  @Test func `an unrequested 304 fails`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 304, headers: ["ETag": "\"1\""]) }

    let answer = try await Recorder.outcome(of: HTTPSource(), origin.url("/"))

    #expect(answer.failureInWords == "status 304")
  }

  @Test func `an unrequested 206 fails`() async throws {
    let origin = try LoopbackServer { _ in
      Response(status: 206, headers: ["Content-Range": "bytes 0-0/2"], body: [1])
    }

    let answer = try await Recorder.outcome(of: HTTPSource(), origin.url("/"))

    #expect(answer.failureInWords == "status 206")
  }

  @Test func `a status comes with its header fields`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 503, headers: ["Retry-After": "7"]) }

    let answer = try await Recorder.outcome(of: HTTPSource(), origin.url("/"))

    guard case .status(503, let headers, _) = answer.failure as? TransferError else {
      Issue.record("\(answer.transcript)")
      return
    }
    #expect(headers["retry-after"] == "7")
  }

  @Test func `a get of stored values only completes empty without a request`() async throws {
    let transport = TestTransport()
    let url = try #require(URL(string: "http://a"))

    let answer = try await Recorder.outcome(
      of: HTTPSource(transport: transport), url, Lookup(freshness: .cachedOnly))

    #expect(answer.transcript == ["completed"])
    #expect(transport.source.subscriptions == 0)
  }

  @Test func `a reload asks caches on the way to step aside`() async throws {
    let origin = try LoopbackServer { _ in Response() }

    try await Recorder.outcome(of: HTTPSource(), origin.url("/"), Lookup(freshness: .reload))
    try await Recorder.outcome(of: HTTPSource(), origin.url("/"))

    let sent = origin.exchanges.map { $0.request.headers["Cache-Control"] }
    #expect(sent == ["no-cache", nil])
  }

  @Test(
    arguments: [
      "file:///etc/hostname", "ftp://a/b", "data:,a", "mailto:a@b", "about:blank", "http:",
      "http:///a", "https://", "a/b", "/a", "//a/b", "http:a", "",
    ])
  func `a URL of another scheme than HTTP's fails without a request`(address: String) async throws {
    guard let url = URL(string: address) else { return }
    let transport = TestTransport()

    let answer = try await Recorder.outcome(of: HTTPSource(transport: transport), url)

    #expect(answer.failureInWords == "unsupported \(url.absoluteString)")
    #expect(transport.source.subscriptions == 0)
  }

  @Test(
    arguments: [
      "http://127.0.0.1:0/", "http://127.0.0.1:99999/", "http://%20/", "http://[::1", "http://a b/",
      "http://127.0.0.1:1/%00", "HTTP://user:word@127.0.0.1:1/?q#f", "http://.../", "http://-/",
      "http://127.0.0.1:-1/",
    ])
  func `an odd URL fails, and nothing traps`(address: String) async throws {
    guard let url = URL(string: address) else { return }

    let answer = try await Recorder.outcome(of: HTTPSource(), url)

    #expect(answer.failure != nil)
  }

  @Test func `a body over the limit fails by its declared length`() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1, 2, 3]) }
    let source = HTTPSource(limits: HTTPLimits(byteLimit: 2))

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failureInWords == "more than 2")
    #expect(answer.progress.isEmpty)
  }

  @Test func `a body of exactly the limit is a value`() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1, 2, 3]) }
    let source = HTTPSource(limits: HTTPLimits(byteLimit: 3))

    #expect(try await source.get(origin.url("/")).value.count == 3)
  }

  @Test func `an endless body is stopped at the limit`() async throws {
    // Slower than possible: while more arrives than the process can take in, Linux's URLSession
    // does nothing else, for any session.
    let piece = [ScriptStep.send(Array(repeating: 1, count: 1 << 16)), .wait(.milliseconds(1))]
    let origin = try LoopbackServer { _ in
      .scripted([.text("HTTP/1.1 200 OK\r\n\r\n")] + (0..<20_000).flatMap { _ in piece })
    }
    let source = HTTPSource(limits: HTTPLimits(byteLimit: .mebibytes(1)))

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failureInWords == "more than 1048576")
    #expect(await origin.wasClosedByClient())
  }

  @Test func `silence before the head fails after the idle timeout`() async throws {
    let origin = try LoopbackServer { _ in Response().held(by: ResponseHold()) }
    let clock = ManualClock()
    let source = HTTPSource(limits: HTTPLimits(idleTimeout: .seconds(30)), clock: clock)
    let answer = Recorder<Data>().subscribe(to: source.get(try origin.url("/")))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    clock.advance(by: .seconds(29))
    #expect(answer.end == nil)
    clock.advance(by: .seconds(1))

    try await answer.ended()
    #expect(answer.failureInWords == "idle")
    #expect(await origin.wasClosedByClient())
  }

  @Test(.timeLimit(.minutes(3)))
  func `silence in the body fails after the idle timeout`() async throws {
    let origin = try LoopbackServer { _ in
      Response(body: Array(repeating: 1, count: 10)).held(by: ResponseHold(), afterBodyBytes: 4)
    }
    let clock = ManualClock()
    let limits = HTTPLimits(idleTimeout: .seconds(30), totalTimeout: .seconds(1_000_000))
    let answer = Recorder<Data>()
    let hasBegun = Watched(false)
    let source = HTTPSource(limits: limits, clock: clock)
    answer.subscribe(to: source.get(try origin.url("/"))) { event in
      if case .progress(let progress) = event, progress.completed == 4 {
        hasBegun.change { $0 = true }
      }
    }
    try await hasBegun.wait(for: "the first bytes") { $0 }

    clock.advance(by: .seconds(29))
    #expect(answer.end == nil)
    // The silence begins when the delivery on the transport's thread has returned.
    while answer.end == nil {
      try Task.checkCancellation()
      clock.advance(by: .seconds(1))
      await Task.yield()
    }

    #expect(answer.failureInWords == "idle")
    #expect(await origin.wasClosedByClient())
  }

  @Test func `silence fails by the real clock too`() async throws {
    let origin = try LoopbackServer { _ in Response().held(by: ResponseHold()) }
    let source = HTTPSource(limits: HTTPLimits(idleTimeout: .milliseconds(20)))

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failureInWords == "idle")
    // On a busy machine it may be over before it is sent.
    #expect(await origin.eventually { $0.openConnections == 0 })
  }

  @Test func `a slow drip of bytes fails after the total timeout`() async throws {
    let origin = try LoopbackServer { _ in
      Response(body: Array(repeating: 1, count: 1 << 20)).paced(bytesPerSecond: 500)
    }
    let limits = HTTPLimits(idleTimeout: .seconds(60), totalTimeout: .milliseconds(200))

    let answer = try await Recorder.outcome(of: HTTPSource(limits: limits), origin.url("/"))

    #expect(answer.failureInWords == "total")
    // On a busy machine it may be over before it is sent.
    #expect(await origin.eventually { $0.openConnections == 0 })
  }

  @Test func `the total timeout is for bodies in memory, and a stream has one of its own`() throws {
    let transport = TestTransport()
    let clock = ManualClock()
    let limits = HTTPLimits(
      idleTimeout: .seconds(1_000), totalTimeout: .seconds(10), streamTimeout: .seconds(100))
    let source = HTTPSource(transport: transport, limits: limits, clock: clock)
    let url = try #require(URL(string: "http://a"))
    let pieces = Recorder<Data>().subscribe(to: source.pieces(of: url))

    clock.advance(by: .seconds(99))
    #expect(pieces.end == nil)
    clock.advance(by: .seconds(1))

    #expect(pieces.failureInWords == "total")
  }

  @Test func `a timeout of zero fails without a request`() async throws {
    let transport = TestTransport()
    let source = HTTPSource(transport: transport, limits: HTTPLimits(totalTimeout: .seconds(-1)))
    let url = try #require(URL(string: "http://a"))

    let answer = try await Recorder.outcome(of: source, url)

    #expect(answer.failureInWords == "total")
    #expect(transport.source.subscriptions == 0)
  }

  @Test func `a timer that is left behind is the last`() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1]) }
    let clock = ManualClock()
    let source = HTTPSource(clock: clock)

    for _ in 0..<3 { try await Recorder.outcome(of: source, origin.url("/")) }

    #expect(clock.pendingCount == 1)
    clock.advance(by: .seconds(60))
    #expect(clock.pendingCount == 0)
  }

  @Test func `an error of a transport arrives as it was thrown`() async throws {
    struct Odd: Error {}
    let transport = TestTransport()
    let url = try #require(URL(string: "http://a"))
    let answer = Recorder<Data>().subscribe(to: HTTPSource(transport: transport).get(url))

    transport.source.failed(Odd())

    try await answer.ended()
    #expect(answer.failure is Odd)
  }

  @Test func `a transport that breaks off fails`() async throws {
    let transport = TestTransport()
    let url = try #require(URL(string: "http://a"))
    let answer = Recorder<Data>().subscribe(to: HTTPSource(transport: transport).get(url))

    transport.source.next(.head(HTTPHead(status: 200, headers: ["Content-Length": "3"])))
    transport.source.next(.body(Data([1])))
    transport.source.completed()

    try await answer.ended()
    #expect(answer.failureInWords == "1 of 3")
  }

  @Test func `an answer that can't be one any more stops its transport`() async throws {
    let transport = TestTransport()
    let url = try #require(URL(string: "http://a"))
    let answer = Recorder<Data>().subscribe(to: HTTPSource(transport: transport).get(url))

    transport.source.next(.head(HTTPHead(status: 500)))

    try await answer.ended()
    #expect(transport.source.disposals == 1)
  }

  @Test func `an observer that waits for another get does not hold it up`() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1]) }
    let source = HTTPSource()
    let url = try origin.url("/")
    let outer = Recorder<Data>()
    let inner = Recorder<Data>()
    let isDone = DispatchSemaphore(value: 0)

    outer.subscribe(to: source.get(url)) { event in
      guard case .next = event else { return }
      inner.subscribe(to: source.get(url)) { if $0.isTerminal { isDone.signal() } }
      _ = isDone.wait(timeout: .now() + 10)
    }

    try await outer.ended()
    #expect(inner.isCompleted)
  }
}
