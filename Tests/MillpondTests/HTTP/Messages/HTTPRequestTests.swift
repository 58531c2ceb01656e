import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct HTTPRequestTests {
  struct Signed: Hashable, Sendable {
    let number: Int
  }

  struct Refused: Error {}

  @Test func `a key of any kind is asked for by the request that is made of it`() async throws {
    let origin = try LoopbackServer { Response(body: Array($0.path.utf8)) }
    let base = try origin.url("/photo/")
    let photos = HTTPSource { (key: Signed) in
      await Task.yield()
      return HTTPRequest(
        url: base.appending(path: "\(key.number)"), headers: ["Accept": "image/webp"])
    }

    #expect(try await photos.get(Signed(number: 7)).value == Data("/photo/7".utf8))
    #expect(origin.exchanges.first?.request.headers["Accept"] == "image/webp")
  }

  @Test func `a request is made anew for each get`() async throws {
    let origin = try LoopbackServer { Response(body: Array($0.path.utf8)) }
    let base = try origin.url("/")
    let signatures = Watched(0)
    let source = HTTPSource { (key: Signed) in
      let signature = signatures.change { count in
        count += 1
        return count
      }
      return HTTPRequest(url: base.appending(path: "\(key.number)-\(signature)"))
    }

    #expect(try await source.get(Signed(number: 1)).value == Data("/1-1".utf8))
    #expect(try await source.get(Signed(number: 1)).value == Data("/1-2".utf8))
  }

  @Test func `a cache keeps the value under the key, whatever its URL was`() async throws {
    let origin = try LoopbackServer { Response(body: Array($0.path.utf8)) }
    let base = try origin.url("/")
    let cache = MemoryCache<Signed, Data>(countLimit: 10).layered(
      over: HTTPSource { _ in HTTPRequest(url: base.appending(path: UUID().uuidString)) })

    let first = try await cache.get(Signed(number: 1)).value
    let second = try await cache.get(Signed(number: 1)).value

    #expect(first == second)
    #expect(origin.exchanges.count == 1)
  }

  @Test func `an error of the closure that makes the request fails the get`() async throws {
    let transport = TestTransport()
    let source = HTTPSource(transport: transport) { (_: Signed) -> HTTPRequest in throw Refused() }

    await #expect(throws: Refused.self) { try await source.get(Signed(number: 1)).value }
    #expect(transport.source.subscriptions == 0)
  }

  @Test func `the making of a request is part of the time that a get may take`() async throws {
    let clock = ManualClock()
    let isMaking = Watched(false)
    let source = HTTPSource(
      transport: TestTransport(), limits: HTTPLimits(idleTimeout: .seconds(30)), clock: clock
    ) { (_: Signed) -> HTTPRequest in
      isMaking.change { $0 = true }
      try await Task.sleep(for: .seconds(3_600))
      throw Refused()
    }
    let answer = Recorder<Data>().subscribe(to: source.get(Signed(number: 1)))
    try await isMaking.wait(for: "the making") { $0 }

    clock.advance(by: .seconds(30))

    try await answer.ended()
    #expect(answer.failureInWords == "idle")
  }

  @Test func `a caller that leaves cancels the making, and nothing is sent`() async throws {
    let transport = TestTransport()
    let isCancelled = Watched(false)
    let isMaking = Watched(false)
    let source = HTTPSource(transport: transport) { (_: Signed) -> HTTPRequest in
      isMaking.change { $0 = true }
      try? await Task.sleep(for: .seconds(3_600))
      isCancelled.change { $0 = Task.isCancelled }
      return HTTPRequest(url: URL(filePath: "/"))
    }
    let answer = Recorder<Data>().subscribe(to: source.get(Signed(number: 1)))
    try await isMaking.wait(for: "the making") { $0 }

    answer.dispose()

    try await isCancelled.wait(for: "cancellation") { $0 }
    #expect(transport.source.subscriptions == 0)
    #expect(answer.events.isEmpty)
  }

  @Test func `a reload adds to the fields of the request`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let url = try origin.url("/")
    let source = HTTPSource { (_: Signed) in HTTPRequest(url: url, headers: ["X-A": "b"]) }

    _ = try await source.get(Signed(number: 1), freshness: .reload).value

    let sent = origin.exchanges.first?.request.headers
    #expect(sent?["X-A"] == "b")
    #expect(sent?["Cache-Control"] == "no-cache")
  }

  @Test func `the identity is the URL unless another is stated`() throws {
    let url = try #require(URL(string: "http://a/b?signature=1"))

    #expect(HTTPRequest(url: url).identity == "http://a/b?signature=1")
    #expect(HTTPRequest(url: url, identity: "b").identity == "b")
  }

  @Test func `a redirect to another origin carries no credentials`() async throws {
    let other = try LoopbackServer { _ in Response(body: [1]) }
    let target = "\(other.baseURL)/b"
    let origin = try LoopbackServer { request in
      request.path == "/a"
        ? Response(status: 302, headers: ["Location": "/same"])
        : Response(status: 302, headers: ["Location": target])
    }
    let url = try origin.url("/a")
    let source = HTTPSource { (_: Signed) in
      HTTPRequest(
        url: url, headers: ["Authorization": "Basic a", "X-B": "b"], credentials: ["X-Key": "k"])
    }

    _ = try await source.get(Signed(number: 1)).value

    let atHome = origin.exchanges.map { $0.request.headers["X-Key"] }
    let abroad = try #require(other.exchanges.first).request.headers
    #expect(atHome == ["k", "k"])
    #expect(abroad["X-Key"] == nil)
    #expect(abroad["Authorization"] == nil)
    #expect(abroad["X-B"] == "b")
  }

  @Test func `a transport learns that a waiting request has become more urgent`() async throws {
    let raised = Watched<[Priority]>([])
    let cache = HTTPSource(transport: ListeningTransport(raised: raised)).reusingInFlight()
    let url = try #require(URL(string: "http://a"))
    let first = cache.get(url, priority: .low).subscribe()

    let second = cache.get(url, priority: .high).subscribe()
    let third = cache.get(url).subscribe()

    #expect(raised.state == [.high])
    for subscription in [first, second, third] { subscription.dispose() }
  }
}

/// A transport that never answers, and records the priorities of its requests.
private struct ListeningTransport: HTTPTransport {
  let raised: Watched<[Priority]>

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    Signal { _, lifetime in
      let listening = request.onRaise { priority in
        raised.change { $0.append(priority) }
      }
      lifetime.onEnd { listening?.dispose() }
    }
  }
}
