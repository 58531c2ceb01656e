import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct TransferErrorRetryingTests {
  private let clock = ManualClock()
  private let policy = RetryPolicy.backoff(
    attempts: 3, from: .milliseconds(100), upTo: .seconds(60), jitter: 0)

  private func delay(_ headers: HeaderFields) -> Duration? {
    TransferError.status(code: 503, headers: headers).retryDelay
  }

  @Test func `a Retry-After is a number of seconds, or a date by the origin's clock`() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    #expect(delay(["retry-after": "120"]) == .seconds(120))
    #expect(
      delay(["Retry-After": "Sun, 06 Nov 1994 08:50:00 GMT", "Date": date]) == .seconds(23))
    #expect(delay(["Retry-After": date, "Date": "Sun, 06 Nov 1994 08:50:00 GMT"]) == .zero)
    #expect(delay(["Retry-After": date]) == .zero)
    #expect(delay([:]) == nil)
  }

  @Test(arguments: ["", "-1", "1.5", "soon", "0x10", "Sun, 99 Nov 1994 08:49:37 GMT", "１"])
  func `a Retry-After of garbage is ignored`(value: String) {
    #expect(delay(["Retry-After": value]) == nil)
  }

  @Test func `a Retry-After beyond any clock's range traps nothing`() {
    let endless = String(repeating: "9", count: 40)

    #expect(delay(["Retry-After": endless]) == .seconds(100 * 366 * 86_400))
    #expect(delay(["Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT", "Date": "x"]) != nil)
  }

  @Test func `a 503 is retried once its Retry-After is over, not before`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 503, headers: ["Retry-After": "7"]) }
    let source = HTTPSource().retrying(policy.onlyTransient, clock: clock)
    let answer = Recorder<Data>().subscribe(to: source.get(try origin.url("/")))
    try await clock.pending(count: 1)

    clock.advance(by: .milliseconds(6_999))
    #expect(clock.pendingCount == 1)
    clock.advance(by: .milliseconds(1))

    #expect(await origin.eventually { $0.exchanges.count == 2 })
    answer.dispose()
  }

  @Test func `a Retry-After beyond the longest pause fails at once`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 429, headers: ["Retry-After": "61"]) }
    let source = HTTPSource().retrying(policy.onlyTransient, clock: clock)
    let answer = Recorder<Data>().subscribe(to: source.get(try origin.url("/")))

    try await answer.ended()

    #expect(answer.failureInWords == "status 429")
    #expect(origin.exchanges.count == 1)
  }

  @Test func `a storm of 5xx ends after the last attempt, and nothing is stored`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(status: 500, body: [1]) }
    let cache = MemoryCache<URL, Data>(countLimit: 10)
      .layered(
        over: HTTPSource().retrying(
          .backoff(
            attempts: 4, from: .milliseconds(1), upTo: .milliseconds(2), chance: { 0.5 }
          ).onlyTransient
        ).limited(to: 1))
    let url = try origin.url("/")
    let answers = (0..<4).map { _ in Recorder<Data>().subscribe(to: cache.get(url)) }

    for answer in answers { try await answer.ended() }

    #expect(answers.allSatisfy { $0.failureInWords == "status 500" })
    #expect(origin.exchanges.count == 16)
    #expect(try await cache.get(url, freshness: .cachedOnly).valueIfAny == nil)
  }

  @Test(arguments: [400, 401, 403, 404, 410, 501, 505])
  func `a request whose failure is final is not repeated`(status: Int) async throws {
    let origin = try LoopbackServer { _ in Response(status: status) }
    let source = HTTPSource().retrying(policy.onlyTransient, clock: clock)
    let answer = Recorder<Data>().subscribe(to: source.get(try origin.url("/")))

    try await answer.ended()

    #expect(origin.exchanges.count == 1)
  }

  @Test(arguments: ["closed", "cut", "reset"])
  func `a request whose connection was lost is repeated`(way: String) async throws {
    let origin = try LoopbackServer { request in
      guard request.path == "/\(way)", request.headers["X-Second"] == nil else { return Response() }
      let head = ScriptStep.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123")
      return switch way {
      case "closed": .scripted([.close])
      case "cut": .scripted([head, .close])
      default: .scripted([head, .reset])
      }
    }
    let source = HTTPSource().retrying(
      .immediate(attempts: 3).onlyTransient, clock: clock)
    let answer = Recorder<Data>().subscribe(to: source.get(try origin.url("/\(way)")))

    try await answer.ended()

    #expect(origin.exchanges.count == 3, "\(answer.transcript)")
  }

  @Test func `a loss of connectivity of another transport is tried again`() async throws {
    struct Lost: ConnectivityError {
      var isLossOfConnectivity: Bool { true }
    }
    let count = Watched(0)
    let lost = Signal<Data>.deferred {
      count.change { $0 += 1 }
      return .fail(Lost())
    }

    let answer = Recorder<Data>()
      .subscribe(to: lost.retry(.immediate(attempts: 3).onlyTransient, clock: clock))

    try await answer.ended()
    #expect(count.state == 3)
  }

  @Test func `a body in an unknown encoding is not asked for again, nor a loss of connectivity`()
    async throws
  {
    let origin = try LoopbackServer { _ in
      Response(headers: ["Content-Encoding": "foo"], body: [1, 2, 3])
    }
    let source = HTTPSource().retrying(.immediate(attempts: 3).onlyTransient, clock: clock)
    let answer = Recorder<Data>().subscribe(to: source.get(try origin.url("/")))

    try await answer.ended()

    #expect(origin.exchanges.count == 1)
    #expect(answer.failure.map(\.isConnectivityError) == false)
  }

  @Test(arguments: [
    URLError.Code.dnsLookupFailed, .cannotFindHost, .notConnectedToInternet, .dataNotAllowed,
    .timedOut,
  ])
  func `a loss of connectivity may pass`(code: URLError.Code) {
    #expect(URLError(code).isConnectivityError && URLError(code).isTransient)
  }

  @Test func `a refused connection is tried again`() async throws {
    let closed = try ClosedPort()
    let url = try #require(URL(string: closed.baseURL))
    let attempts = Watched(0)
    let source = HTTPSource { (url: URL) in
      attempts.change { $0 += 1 }
      return HTTPRequest(url: url)
    }
    let answer = Recorder<Data>()
      .subscribe(to: source.retrying(.immediate(attempts: 3).onlyTransient).get(url))

    try await answer.ended()

    #expect(attempts.state == 3)
  }
}
