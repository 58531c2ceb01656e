import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Answers that are not stored themselves, and what they change of that which is.
@Suite struct HTTPCacheUpdateTests {
  private static let fields = "max-age=60 | ETag: \"a\""

  private func request(_ method: String, _ fields: String = "") throws -> HTTPRequest {
    HTTPRequest(
      url: try HTTPCacheScene.request().url, method: HTTPMethod(method),
      headers: CachingRow.fields(fields))
  }

  /// A cache with a response that is stale at second 60, its present time.
  private func staleScene(
    _ answer: @escaping @Sendable () -> ScriptedOrigin.Answer
  ) async throws -> HTTPCacheScene {
    let scene = HTTPCacheScene { _, number in number == 1 ? .ok(Self.fields) : answer() }
    _ = try await scene.send()
    scene.at(60)
    return scene
  }

  // MARK: Ranges and storing

  @Test func `a 416 does not take the place of the whole response`() async throws {
    let scene = try await staleScene { .status(416, "max-age=60 | Content-Range: bytes */4") }

    #expect(try await scene.send("Range: bytes=9-") == "416")

    #expect(try await scene.send("only-if-cached, max-stale") == "200 age 60 body")
  }

  @Test(arguments: [("HEAD", 200, ""), ("GET", 304, "If-None-Match: \"a\"")])
  func `an answer that describes what is stored and forbids storing removes it`(
    method: String, status: Int, fields: String
  ) async throws {
    let scene = try await staleScene { .status(status, "no-store | ETag: \"a\"") }
    let answer = scene.cache.send(try request(method, fields))

    #expect(try await HTTPCacheScene.answer(answer) == "\(status)")

    #expect(try await scene.send("only-if-cached, max-stale") == "504")
  }

  @Test(arguments: ["HEAD", "GET"])
  func `an answer with must-understand and a known status may have no-store`(
    method: String
  ) async throws {
    let scene = try await staleScene {
      .status(method == "HEAD" ? 200 : 304, "must-understand, no-store, max-age=60 | ETag: \"a\"")
    }

    let answer = scene.cache.send(try request(method))

    #expect(try await HTTPCacheScene.answer(answer).hasPrefix("200"))

    #expect(try await scene.send("only-if-cached") == "200 age 0 body")
  }

  @Test(arguments: [("HEAD", "200"), ("GET", "200 age 0 body")])
  func `the answer to a request with no-store makes nothing fresh`(
    method: String, text: String
  ) async throws {
    let scene = try await staleScene { .status(method == "HEAD" ? 200 : 304, Self.fields) }
    let answer = scene.cache.send(try request(method, "no-store"))

    #expect(try await HTTPCacheScene.answer(answer) == text)

    #expect(try await scene.send("only-if-cached") == "504")
    #expect(try await scene.send("only-if-cached, max-stale") == "200 age 60 body")
  }

  // MARK: Redirects

  @Test(arguments: [200, 404, 500])
  func `a change that was redirected makes only what is stored of its own URL invalid`(
    status: Int
  ) async throws {
    let scene = HTTPCacheScene { request, _ in
      request.method == .get
        ? .ok("max-age=60")
        : .init(
          status: status, fields: "Location: /b | Content-Location: /b", redirection: Redirection())
    }
    for path in ["/a", "/b"] { _ = try await scene.send(path: path) }
    let answer = scene.cache.send(try request("POST"))

    #expect(try await HTTPCacheScene.answer(answer) == "\(status)")

    #expect(try await scene.send("only-if-cached", path: "/a") == "504")
    #expect(try await scene.send("only-if-cached", path: "/b") == "200 age 0 body")
  }

  // MARK: Confirmations that store nothing

  private func cache(
    over transport: ImpoliteTransport, in store: any Cache<String, HTTPCacheRecord>
  ) -> HTTPCache {
    HTTPCache(
      over: transport, in: store,
      now: { Date(timeIntervalSince1970: Double(CachingRow.arrival)) })
  }

  private func ask(_ cache: HTTPCache, _ fields: String = "") throws -> Recorder<HTTPPart> {
    Recorder().subscribe(to: cache.send(try HTTPCacheScene.request(fields)))
  }

  @Test func `a 304 that forbids storing removes what is stored, also from a slow store`() throws {
    let (transport, store) = (ImpoliteTransport(), SlowStore())
    let cache = cache(over: transport, in: store)
    _ = try ask(cache)
    transport.head(0, 200, "max-age=0 | ETag: \"a\" | Content-Length: 4")
    transport.body(0, "body")
    transport.end(0)

    let caller = try ask(cache)
    store.hold()
    transport.head(1, 304, "no-store | ETag: \"a\"")
    store.release()

    #expect(HTTPCacheScene.text(caller) == "200 age 0 body")
    #expect(HTTPCacheScene.text(try ask(cache, "only-if-cached, max-stale")) == "504")
  }

  @Test func `a 304 that forbids storing undoes no later change for another variant`() throws {
    let transport = ImpoliteTransport()
    let cache = cache(over: transport, in: MemoryCache<String, HTTPCacheRecord>(countLimit: 100))
    let fields = "ETag: \"a\" | Vary: Accept-Language"
    _ = try ask(cache, "Accept-Language: en")
    transport.head(0, 200, "max-age=0 | Content-Length: 4 | " + fields)
    transport.body(0, "body")
    transport.end(0)

    let other = try ask(cache, "Accept-Language: de")
    let own = try ask(cache, "Accept-Language: en")
    try #require(transport.requests.count == 3)
    transport.head(2, 304, "max-age=60 | " + fields)
    transport.head(1, 304, "no-store | " + fields)

    #expect(HTTPCacheScene.text(own) == "200 age 0 body")
    #expect(HTTPCacheScene.text(other) == "200 age 0 body")
    let stored = try ask(cache, "Accept-Language: en | only-if-cached")
    #expect(HTTPCacheScene.text(stored) == "200 age 0 body")
  }
}
