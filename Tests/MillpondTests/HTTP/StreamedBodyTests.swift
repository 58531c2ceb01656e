import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct StreamedBodyTests {
  private let source = HTTPSource()

  private func pieces(
    of source: HTTPSource<URL>, _ url: URL, _ lookup: Lookup = Lookup()
  ) async throws -> Recorder<Data> {
    let answer = Recorder<Data>().subscribe(to: source.pieces(of: url, lookup))
    try await answer.ended()
    #expect(answer.violations.isEmpty)
    return answer
  }

  @Test func `the pieces are the body, in order, with progress`() async throws {
    let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 >> 8) }
    let origin = try LoopbackServer { _ in Response(body: body) }

    let answer = try await pieces(of: source, origin.url("/"))

    #expect(answer.values.reduce(into: Data()) { $0 += $1 } == Data(body))
    #expect(answer.values.count > 1)
    #expect(answer.isCompleted)
    #expect(answer.progress.last == .init(completed: 300_000, total: 300_000))
  }

  @Test(arguments: Fault.allCases)
  func `every fault ends them in a failure`(fault: Fault) async throws {
    let origin = try fault.origin()
    let url = try #require(fault.url(at: origin))
    let limits = HTTPLimits(
      idleTimeout: fault == .silence ? .milliseconds(50) : .seconds(60), streamByteLimit: 1_000)

    let answer = try await pieces(of: HTTPSource(limits: limits), url)

    #expect(answer.failure != nil)
  }

  @Test func `a slow subscriber holds up no other transfer of its transport`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array(repeating: 1, count: 1_000)) }
    let url = try origin.url("/")
    let other = Recorder<Data>()
    let isDone = DispatchSemaphore(value: 0)
    let answer = Recorder<Data>()

    answer.subscribe(to: source.pieces(of: url)) { event in
      guard case .next = event else { return }
      other.subscribe(to: source.get(url)) { if $0.isTerminal { isDone.signal() } }
      _ = isDone.wait(timeout: .now() + 10)
      #expect(other.isCompleted)
    }

    try await answer.ended()
    #expect(answer.isCompleted)
  }

  @Test func `the limit of bodies in memory does not concern pieces`() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1, 2, 3]) }
    let source = HTTPSource(limits: HTTPLimits(byteLimit: 2))

    let answer = try await pieces(of: source, origin.url("/"))

    #expect(answer.values.reduce(into: Data()) { $0 += $1 } == Data([1, 2, 3]))
  }

  @Test func `an ask for what is cached only completes empty`() async throws {
    let transport = TestTransport()
    let url = try #require(URL(string: "http://a"))

    let answer = try await pieces(
      of: HTTPSource(transport: transport), url, Lookup(freshness: .cachedOnly))

    #expect(answer.transcript == ["completed"])
    #expect(transport.source.subscriptions == 0)
  }

  @Test func `credentials that are refused are renewed before the first piece`() async throws {
    let origin = try LoopbackServer { request in
      request.headers["X-Key"] == "new" ? Response(body: [1]) : Response(status: 401, body: [2])
    }
    let account = HTTPAuthorization(for: try origin.url("/")) { refused in
      refused == nil ? ["X-Key": "old"] : ["X-Key": "new"]
    }

    let answer = try await pieces(of: HTTPSource(authorization: account), origin.url("/"))

    #expect(answer.values == [Data([1])])
  }

  @Test func `disposal in the middle closes the connection`() async throws {
    let origin = try LoopbackServer { _ in
      Response(body: Array(repeating: 1, count: 10)).held(by: ResponseHold(), afterBodyBytes: 4)
    }
    let answer = Recorder<Data>()
    answer.subscribe(to: source.pieces(of: try origin.url("/"))) { event in
      if case .next = event { answer.dispose() }
    }

    #expect(await origin.wasClosedByClient())
    #expect(answer.end == nil)
  }
}
