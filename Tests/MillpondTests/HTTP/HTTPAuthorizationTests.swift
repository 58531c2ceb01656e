import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct HTTPAuthorizationTests {
  /// Gives out tokens by number, each when it is let.
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

    var authorization: HTTPAuthorization {
      HTTPAuthorization { _ in
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

  /// An origin that accepts one token.
  private static func origin(accepting number: Int) throws -> LoopbackServer {
    try LoopbackServer { request in
      request.headers["Authorization"] == "Bearer \(number)"
        ? Response(body: [1]) : Response(status: 401)
    }
  }

  @Test func `requests that wait share one run`() async throws {
    let origin = try Self.origin(accepting: 1)
    let tokens = Tokens(allowed: 0)
    let source = HTTPSource(authorization: tokens.authorization)
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
    let source = HTTPSource(authorization: tokens.authorization)

    for _ in 0..<3 { _ = try await source.get(origin.url("/")).value }

    #expect(tokens.given == 1)
  }

  @Test func `one refusal has them obtained anew for all who were refused`() async throws {
    let all = Hold()
    let origin = try LoopbackServer { request in
      request.headers["Authorization"] == "Bearer 2"
        ? Response(body: [1]) : Response(status: 401).held(by: all)
    }
    let tokens = Tokens()
    let source = HTTPSource(authorization: tokens.authorization)
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

  @Test func `what is refused twice fails, after one repetition`() async throws {
    let origin = try Self.origin(accepting: 0)
    let tokens = Tokens()
    let source = HTTPSource(authorization: tokens.authorization)

    let answer = try await Recorder.outcome(of: source, origin.url("/"))

    #expect(answer.failureInWords == "status 401")
    #expect(origin.exchanges.count == 2)
    #expect(tokens.given == 2)
  }

  @Test func `what obtains is told which credentials were refused`() async throws {
    let origin = try LoopbackServer { request in
      request.headers["X-Key"] == "new" ? Response(body: [1]) : Response(status: 401)
    }
    let account = HTTPAuthorization { refused in
      refused?["X-Key"] == "old" ? ["X-Key": "new"] : ["X-Key": "old"]
    }

    #expect(
      try await HTTPSource(authorization: account).get(origin.url("/")).value == Data([1]))
  }

  @Test func `a failure fails those who wait, and is forgotten`() async throws {
    let origin = try Self.origin(accepting: 1)
    let tokens = Tokens(fails: true)
    let source = HTTPSource(authorization: tokens.authorization)

    for number in 1...2 {
      let answer = try await Recorder.outcome(of: source, origin.url("/"))
      #expect(answer.failure is Tokens.Trouble)
      #expect(tokens.given == number)
    }
    #expect(origin.exchanges.isEmpty)
  }

  @Test func `one who leaves does not stop the run that others wait for`() async throws {
    let origin = try Self.origin(accepting: 1)
    let tokens = Tokens(allowed: 0)
    let source = HTTPSource(authorization: tokens.authorization)
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

  @Test func `what is forgotten is obtained anew`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let tokens = Tokens()
    let authorization = tokens.authorization
    let source = HTTPSource(authorization: authorization)
    _ = try await source.get(origin.url("/")).value

    authorization.forget()
    _ = try await source.get(origin.url("/")).value

    let sent = origin.exchanges.map { $0.request.headers["Authorization"] }
    #expect(sent == ["Bearer 1", "Bearer 2"])
  }

  @Test func `who never obtains anything keeps nobody waiting for ever`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let account = HTTPAuthorization(timeout: .milliseconds(20)) { _ in
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
}
