import Foundation
import LoopbackServer
import Millpond
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct HTTPAuthorizationTests {
  /// A source of numbered tokens, each of which a test releases.
  private final class Tokens: Sendable {
    struct Trouble: Error {}

    private let count = Watched(0)
    private let allowed: Watched<Int>
    private let fails: Bool

    init(allowed: Int = .max, fails: Bool = false) {
      self.allowed = Watched(allowed)
      self.fails = fails
    }

    var given: Int { count.state }

    func allow(_ number: Int) { allowed.change { $0 = number } }

    func started(_ number: Int) async throws {
      try await count.wait(for: "token \(number)") { $0 >= number }
    }

    func authorization(for origin: LoopbackServer) throws -> HTTPAuthorization {
      HTTPAuthorization(for: try origin.url("/")) { _ in
        let number = self.count.change { count in
          count += 1
          return count
        }
        try await self.allowed.wait(for: "leave") { $0 >= number }
        if self.fails { throw Trouble() }
        return ["Authorization": "Bearer \(number)"]
      }
    }
  }

  /// Returns an origin that accepts one token.
  private static func origin(accepting number: Int) throws -> LoopbackServer {
    try LoopbackServer { request in
      request.headers["Authorization"] == "Bearer \(number)"
        ? Response(body: [1]) : Response(status: 401)
    }
  }

  @Test func `a refusal after another head fails the request at once`() async throws {
    let url = try #require(URL(string: "http://origin/"))
    let authorization = HTTPAuthorization(for: url) { _ in ["Authorization": "Bearer 1"] }
    let source = HTTPSource(
      transport: TwoHeaded(), authorization: authorization, clock: ManualClock()
    ) { (url: URL) in HTTPRequest(url: url) }

    let get = try await Recorder<Data>().subscribe(to: source.get(url)).ended()

    #expect("\(get)".contains("a second head"))
  }

  @Test func `requests that wait share one run`() async throws {
    let origin = try Self.origin(accepting: 1)
    let tokens = Tokens(allowed: 0)
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))
    let url = try origin.url("/")
    let answers = (0..<5).map { _ in Recorder<Data>().subscribe(to: source.get(url)) }
    try await tokens.started(1)

    tokens.allow(1)

    for answer in answers { try await answer.ended() }
    #expect(answers.allSatisfy { $0.values == [Data([1])] })
    #expect(tokens.given == 1)
  }

  @Test func `credentials are kept for the requests that follow`() async throws {
    let origin = try Self.origin(accepting: 1)
    let tokens = Tokens()
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))

    for _ in 0..<3 { _ = try await source.get(origin.url("/")).value }

    #expect(tokens.given == 1)
  }

  @Test func `one refusal obtains new credentials for all refused requests`() async throws {
    let all = ResponseHold()
    let origin = try LoopbackServer { request in
      request.headers["Authorization"] == "Bearer 2"
        ? Response(body: [1]) : Response(status: 401).held(by: all)
    }
    let tokens = Tokens()
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))
    let answers = try (0..<5).map {
      Recorder<Data>().subscribe(to: source.get(try origin.url("/\($0)")))
    }
    #expect(await origin.eventually { $0.exchanges.count == 5 })

    all.release()

    for answer in answers { try await answer.ended() }
    #expect(answers.allSatisfy { $0.values == [Data([1])] })
    #expect(tokens.given == 2)
    #expect(origin.exchanges.count == 10)
  }

  @Test func `a request that is refused twice fails, after one repetition`() async throws {
    let origin = try Self.origin(accepting: 0)
    let tokens = Tokens()
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failureInWords == "status 401")
    #expect(origin.exchanges.count == 2)
    #expect(tokens.given == 2)
  }

  @Test func `the function that obtains credentials receives the refused ones`() async throws {
    let origin = try LoopbackServer { request in
      request.headers["X-Key"] == "new" ? Response(body: [1]) : Response(status: 401)
    }
    let account = HTTPAuthorization(for: try origin.url("/")) { refused in
      refused?["X-Key"] == "old" ? ["X-Key": "new"] : ["X-Key": "old"]
    }

    #expect(
      try await HTTPSource(authorization: account).get(origin.url("/")).value == Data([1]))
  }

  @Test func `a failure fails those that wait, and is forgotten`() async throws {
    let origin = try Self.origin(accepting: 1)
    let tokens = Tokens(fails: true)
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))

    for number in 1...2 {
      let answer = try await Recorder.outcome(of: source, origin.url("/"))
      #expect(answer.failure is Tokens.Trouble)
      #expect(tokens.given == number)
    }
    #expect(origin.exchanges.isEmpty)
  }

  @Test func `a caller that leaves does not stop the run that others wait for`() async throws {
    let origin = try Self.origin(accepting: 1)
    let tokens = Tokens(allowed: 0)
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))
    let one = Recorder<Data>().subscribe(to: source.get(try origin.url("/")))
    let other = Recorder<Data>().subscribe(to: source.get(try origin.url("/")))
    try await tokens.started(1)

    one.dispose()
    tokens.allow(1)

    try await other.ended()
    #expect(other.values == [Data([1])])
    #expect(origin.exchanges.count == 1)
    #expect(one.events.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a function that asks for its own credentials fails as circular, also through a flight`(
    isShared: Bool
  ) async throws {
    let url = try #require(URL(string: "http://origin/"))
    let ask = Locked<(@Sendable (URL) -> Signal<Data>)?>(nil)
    let authorization = HTTPAuthorization(for: url, clock: ManualClock()) { _ in
      _ = try await ask.withLock { $0 }?(url).value
      return [:]
    }
    let source = HTTPSource<URL>(
      transport: TestTransport(), authorization: authorization, clock: ManualClock())
    let shared = source.reusingInFlight()
    let get = { @Sendable (url: URL) in isShared ? shared.get(url) : source.get(url) }
    ask.withLock { $0 = get }

    let answer = Recorder<Data>().subscribe(to: get(url))
    try await answer.ended()

    #expect((answer.failure as? CacheError).map { "\($0)" }?.contains("waits for itself") == true)
  }

  @Test func `forgotten credentials are obtained anew`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let tokens = Tokens()
    let authorization = try tokens.authorization(for: origin)
    let source = HTTPSource(authorization: authorization)
    _ = try await source.get(origin.url("/")).value

    authorization.forget()
    _ = try await source.get(origin.url("/")).value

    let sent = origin.exchanges.map { $0.request.headers["Authorization"] }
    #expect(sent == ["Bearer 1", "Bearer 2"])
  }

  @Test func `a function that never obtains credentials keeps no request waiting for ever`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response() }
    let account = HTTPAuthorization(for: try origin.url("/"), timeout: .milliseconds(20)) { _ in
      try await Task.sleep(for: .seconds(3_600))
      return [:]
    }

    let answer = try await Recorder.outcome(
      of: HTTPSource(authorization: account), origin.url("/"))

    guard case .timedOut = answer.failure as? SignalError else {
      Issue.record("\(answer.transcript)")
      return
    }
  }

  // The token expires each time that a hundred gets have been answered.
  @Test func `500 gets through four expiries all succeed, with one run for each expiry`()
    async throws
  {
    let count = Watched((accepted: 0, expiries: 0))
    let origin = try LoopbackServer { request in
      count.change { count in
        guard request.headers["Authorization"] == "Bearer \(count.expiries + 1)" else {
          return Response(status: 401)
        }
        count.accepted += 1
        if count.accepted % 100 == 0, count.expiries < 4 { count.expiries += 1 }
        return Response(body: [1])
      }
    }
    let tokens = Tokens()
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))

    let answers = try (0..<500).map {
      Recorder<Data>().subscribe(to: source.get(try origin.url("/\($0)")))
    }
    for answer in answers { try await answer.ended() }

    #expect(answers.allSatisfy { $0.values == [Data([1])] })
    #expect(tokens.given == 5)
  }

  @Test
  func `a resource that refuses all has credentials obtained twice, however often it is asked`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(status: 401) }
    let tokens = Tokens()
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))

    for _ in 0..<20 {
      let answer = try await Recorder.outcome(of: source, origin.url("/"))
      #expect(answer.failureInWords == "status 401")
    }

    #expect(tokens.given == 2)
  }

  @Test func `gets beside a resource that refuses all succeed, although each token ends the last`()
    async throws
  {
    let tokens = Tokens()
    let origin = try LoopbackServer { request in
      request.path != "/never" && request.headers["Authorization"] == "Bearer \(tokens.given)"
        ? Response(body: [1]) : Response(status: 401)
    }
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))

    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        let url = try origin.url("/\(number)")
        group.addTask {
          for _ in 0..<25 {
            let answer = try await source.get(url).value
            #expect(answer == Data([1]))
          }
        }
      }
      let never = try origin.url("/never")
      group.addTask {
        for _ in 0..<25 { _ = try? await source.get(never).value }
      }
      try await group.waitForAll()
    }

    #expect(tokens.given <= 5)
  }

  @Test func `a redirect to another origin's 401 refuses no credentials, which stay at home`()
    async throws
  {
    let other = try LoopbackServer { _ in Response(status: 401) }
    let target = "\(other.baseURL)/b"
    let origin = try LoopbackServer { _ in Response(status: 302, headers: ["Location": target]) }
    let tokens = Tokens()
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))

    for _ in 0..<3 {
      let answer = try await Recorder.outcome(of: source, origin.url("/"))
      #expect(answer.failureInWords == "status 401")
    }

    #expect(tokens.given == 1)
    #expect(other.exchanges.allSatisfy { $0.request.headers["Authorization"] == nil })
    #expect(origin.exchanges.count == 3)
  }

  @Test func `a redirect back from another origin brings no credentials along`() async throws {
    let home = Watched("")
    let other = try LoopbackServer { _ in
      Response(status: 302, headers: ["Location": "\(home.state)/c"])
    }
    let target = "\(other.baseURL)/b"
    let origin = try LoopbackServer { request in
      request.path == "/c"
        ? Response(body: [1]) : Response(status: 302, headers: ["Location": target])
    }
    home.change { $0 = origin.baseURL }
    let source = HTTPSource(authorization: try Tokens().authorization(for: origin))

    #expect(try await source.get(origin.url("/a")).value == Data([1]))
    #expect(origin.exchanges.map { $0.request.headers["Authorization"] } == ["Bearer 1", nil])
  }

  @Test func `a URL of another origin is asked for without credentials`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let other = try LoopbackServer { _ in Response(status: 401) }
    let tokens = Tokens()
    let source = HTTPSource(authorization: try tokens.authorization(for: origin))

    let answer = try await Recorder.outcome(of: source, other.url("/"))

    #expect(answer.failureInWords == "status 401")
    #expect(other.exchanges.map { $0.request.headers["Authorization"] } == [nil])
    #expect(tokens.given == 0)
  }

  @Test func `credentials replace fields of the same name, and leave others`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let url = try origin.url("/")
    let source = HTTPSource(authorization: try Tokens().authorization(for: origin)) { (_: Int) in
      HTTPRequest(
        url: url, headers: ["authorization": "Basic h"],
        credentials: ["AUTHORIZATION": "Basic c", "X-Key": "k"])
    }

    _ = try await source.get(1).value

    let sent = try #require(origin.exchanges.first).request.headers
    #expect(
      sent.fields.filter { $0.name.lowercased() == "authorization" }.map(\.value) == ["Bearer 1"])
    #expect(sent["X-Key"] == "k")
  }

  @Test func `a refusal after progress counts as any other`() async throws {
    let transport = TestTransport()
    let url = try #require(URL(string: "http://a/"))
    let account = HTTPAuthorization(for: url) { ["Authorization": $0 == nil ? "old" : "new"] }
    let source = HTTPSource(transport: transport, authorization: account)
    let answer = Recorder<Data>().subscribe(to: source.get(url))
    try await transport.source.subscriptions(count: 1)

    transport.source.progress(SignalProgress(completed: 0, total: 1))
    transport.source.next(.head(HTTPHead(status: 401)))

    try await transport.source.subscriptions(count: 2)
    transport.source.next(.head(HTTPHead(status: 200)))
    transport.source.next(.body(Data([1])))
    transport.source.completed()
    try await answer.ended()
    #expect(answer.values == [Data([1])])
  }
}

/// A transport that sends a 401 after the head and the body of an answer.
private struct TwoHeaded: HTTPTransport {
  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    Signal<HTTPPart>.just(.head(HTTPHead(status: 200))).concat(.just(.body(Data([1]))))
      .concat(.just(.head(HTTPHead(status: 401))))
  }
}
