import Dispatch
import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite struct SignOutTests {
  /// A transport that sends nothing, and notes the credentials that it was to send.
  private struct NotingTransport: HTTPTransport {
    let sent = Watched<[String]>([])
    let source = TestSource<HTTPPart>()

    func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
      Signal { observer, lifetime in
        source.signal.run(observer, lifetime)
        // After the run of the source: callers that wait for this go on at once.
        sent.change { $0.append(request.credentials["X-User"] ?? "nobody") }
      }
    }
  }

  private let url: URL
  private let user = Watched("a")
  private let transport = NotingTransport()

  init() throws {
    url = try #require(URL(string: "http://a/profile"))
  }

  private func account(in scope: CacheScope? = nil) -> HTTPAuthorization {
    HTTPAuthorization(for: url, in: scope) { [user] _ in ["X-User": user.state] }
  }

  private func isScopeEnded(_ answer: Recorder<Data>) -> Bool {
    if case .scopeEnded = answer.failure as? CacheError { true } else { false }
  }

  @Test(arguments: ["forgetting", "scope"])
  func `a request that is refused after a sign-out is not sent again, nor answered`(
    way: String
  ) async throws {
    let scope = CacheScope()
    let account = account(in: scope)
    let answer = Recorder<Data>()
      .subscribe(to: HTTPSource(transport: transport, authorization: account).get(url))
    try await transport.sent.wait(for: "the request") { $0 == ["a"] }
    let run = try #require(transport.source.runs.first)

    user.change { $0 = "b" }
    if way == "forgetting" { account.forget() } else { scope.end().subscribe() }
    run.next(.head(HTTPHead(status: 401)))
    run.completed()

    try await answer.ended()
    #expect(isScopeEnded(answer))
    #expect(transport.sent.state == ["a"])
  }

  @Test func `a request that waits for credentials at a sign-out is not sent with the next user's`()
    async throws
  {
    let isAsked = Watched(0)
    let isCancelled = Watched(false)
    let account = HTTPAuthorization(for: url) { [user] _ in
      if isAsked.change({
        $0 += 1; return $0
      }) == 1 {
        try? await Task.sleep(for: .seconds(3_600))
        isCancelled.change { $0 = Task.isCancelled }
        return ["X-User": "a"]
      }
      return ["X-User": user.state]
    }
    let source = HTTPSource(transport: transport, authorization: account)
    let former = Recorder<Data>().subscribe(to: source.get(url))
    try await isAsked.wait(for: "the question") { $0 == 1 }

    user.change { $0 = "b" }
    account.forget()
    #expect(isScopeEnded(former))
    try await isCancelled.wait(for: "cancellation") { $0 }
    let next = Recorder<Data>().subscribe(to: source.get(url))

    try await transport.sent.wait(for: "the request") { !$0.isEmpty }
    #expect(transport.sent.state == ["b"])
    next.dispose()
  }

  @Test func `a request that is still being made at a sign-out is not sent`() async throws {
    let isMaking = Watched(false)
    let hold = Watched(false)
    let account = account()
    let source = HTTPSource(transport: transport, authorization: account) { [url] (_: Int) in
      isMaking.change { $0 = true }
      // Does not stop when it is cancelled.
      await Task { try? await hold.wait(for: "leave") { $0 } }.value
      return HTTPRequest(url: url)
    }
    let former = Recorder<Data>().subscribe(to: source.get(1))
    try await isMaking.wait(for: "the making") { $0 }

    account.forget()
    hold.change { $0 = true }
    let next = Recorder<Data>().subscribe(to: source.get(1))

    try await transport.sent.wait(for: "the request") { !$0.isEmpty }
    #expect(isScopeEnded(former))
    #expect(transport.sent.state == ["a"])
    next.dispose()
  }

  @Test func `an answer that has arrived but is not delivered at a sign-out is not delivered`()
    async throws
  {
    let account = account()
    let isDelivering = Watched(false)
    let hold = DispatchSemaphore(value: 0)
    let answer = Recorder<Data>()
    answer.subscribe(to: HTTPSource(transport: transport, authorization: account).get(url)) {
      guard case .progress = $0, !isDelivering.state else { return }
      isDelivering.change { $0 = true }
      _ = hold.wait(timeout: .now() + 10)
    }
    try await transport.sent.wait(for: "the request") { $0 == ["a"] }
    transport.source.next(.head(HTTPHead(status: 200)))
    transport.source.next(.body(Data("profile of a".utf8)))
    try await isDelivering.wait(for: "the delivery") { $0 }
    transport.source.completed()

    account.forget()
    hold.signal()

    try await answer.ended()
    #expect(isScopeEnded(answer))
    #expect(answer.values.isEmpty)
  }

  @Test func `pieces end at a sign-out`() async throws {
    let account = account()
    let answer = Recorder<Data>()
      .subscribe(to: HTTPSource(transport: transport, authorization: account).pieces(of: url))
    try await transport.sent.wait(for: "the request") { $0 == ["a"] }
    transport.source.next(.head(HTTPHead(status: 200)))
    transport.source.next(.body(Data([1])))

    account.forget()
    transport.source.next(.body(Data([2])))

    #expect(answer.values == [Data([1])])
    #expect(isScopeEnded(answer))
    #expect(transport.source.disposals == 1)
  }

  @Test func `the bytes of a transfer that a sign-out ends are not kept`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let partials = PartialTransfers(directory: folder, byteLimit: .mebibytes(1))
    let account = account()
    let source = HTTPSource(transport: transport, authorization: account, resuming: partials)
    let answer = Recorder<Data>().subscribe(to: source.get(url))
    try await transport.sent.wait(for: "the request") { $0 == ["a"] }
    let headers: HeaderFields = ["ETag": "\"1\"", "Content-Length": "100000"]
    transport.source.next(.head(HTTPHead(status: 200, headers: headers)))
    transport.source.next(.body(Data(repeating: 1, count: 50_000)))

    account.forget()

    _ = try await partials.flush().valueIfAny
    #expect(isScopeEnded(answer))
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files ?? [] == [])
  }

  @Test func `an authorization that is released leaves its scope`() async throws {
    let scope = CacheScope()
    var account: HTTPAuthorization? = account(in: scope)
    weak let observed = account

    account = nil

    #expect(observed == nil)
    #expect(try await scope.end().valueIfAny != nil)
  }
}
