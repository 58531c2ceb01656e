import Foundation
import LoopbackServer
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Stored values that an HTTP origin confirms, without an `HTTPCache`.
@Suite struct HTTPRevalidationTests {
  let clock = ManualClock()
  private let atMostTen = Lookup(freshness: .atMost(.seconds(10)))

  private func memory() -> MemoryCache<URL, Data> { MemoryCache(countLimit: 10, clock: clock) }

  /// An origin that answers 304 to the right conditions.
  private func origin(
    _ fields: Headers, notModified: Headers = [:]
  ) throws -> LoopbackServer {
    try LoopbackServer { request in
      let tag = request.headers["If-None-Match"]
      let date = request.headers["If-Modified-Since"]
      if tag != nil && tag == fields["ETag"] || tag == nil && date != nil {
        return Response(status: 304, headers: notModified)
      }
      return Response(headers: fields, body: Array("hello".utf8))
    }
  }

  typealias Row = (fields: [String: String], tag: String?, date: String?)

  @Test(
    arguments: [
      (["ETag": "\"7\""], "\"7\"", nil),
      (["ETag": "W/\"7\""], "W/\"7\"", nil),
      (["Last-Modified": "Tue, 15 Nov 1994 12:45:26 GMT"], nil, "Tue, 15 Nov 1994 12:45:26 GMT"),
      (
        ["ETag": "\"7\"", "Last-Modified": "Tue, 15 Nov 1994 12:45:26 GMT"], "\"7\"",
        "Tue, 15 Nov 1994 12:45:26 GMT"
      ),
      (["ETag": "no tag"], nil, nil),
      (["Last-Modified": "yesterday"], nil, nil),
    ] as [Row])
  func `a get sends the known validator, and a 304 makes the value new again`(
    row: Row
  ) async throws {
    let (fields, tag, date) = row
    let origin = try origin(Headers(fields.map { ($0.key, $0.value) }))
    let cache = memory().layered(over: HTTPSource())
    let url = try origin.url("/a")
    _ = try await cache.get(url).value
    clock.advance(by: .seconds(11))

    let again = try await cache.getStamped(url, atMostTen).value

    #expect(again.value == Data("hello".utf8) && again.age == .zero)
    let asked = try #require(origin.exchanges.last?.request)
    #expect(asked.headers["If-None-Match"] == tag && asked.headers["If-Modified-Since"] == date)
    #expect(origin.exchanges.count == 2)
  }

  @Test func `a 304 for another version is followed by a request without conditions`() async throws
  {
    let origin = try origin(["ETag": "\"7\""], notModified: ["ETag": "\"8\""])
    let cache = memory().layered(over: HTTPSource())
    let url = try origin.url("/a")
    _ = try await cache.get(url).value
    clock.advance(by: .seconds(11))

    let again = try await cache.getStamped(url, atMostTen).value

    #expect(again.value == Data("hello".utf8))
    #expect(
      origin.exchanges.map { $0.request.headers["If-None-Match"] } == [nil, "\"7\"", nil])
  }

  @Test func `a 304 with another date does not confirm a value whose tag can't be read`()
    async throws
  {
    let date = "Tue, 15 Nov 1994 12:45:26 GMT"
    let origin = try origin(
      ["ETag": "no tag", "Last-Modified": date],
      notModified: ["Last-Modified": "Tue, 15 Nov 1994 12:45:27 GMT"])
    let cache = memory().layered(over: HTTPSource())
    let url = try origin.url("/a")
    _ = try await cache.get(url).value
    clock.advance(by: .seconds(11))

    _ = try await cache.getStamped(url, atMostTen).value

    #expect(
      origin.exchanges.map { $0.request.headers["If-Modified-Since"] } == [nil, date, nil])
  }

  @Test func `a 304 that was not requested is still a failure`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 304) }

    let outcome = try await Recorder.outcome(of: HTTPSource(), origin.url("/a"))

    #expect(outcome.failureInWords == "status 304")
  }

  @Test func `a request with conditions of its own keeps them`() async throws {
    let origin = try origin(["ETag": "\"7\""])
    let source = HTTPSource { (url: URL) in
      HTTPRequest(url: url, headers: ["If-None-Match": "\"1\""])
    }
    let cache = memory().layered(over: source)
    let url = try origin.url("/a")
    _ = try await cache.get(url).value
    clock.advance(by: .seconds(11))

    _ = try await cache.get(url, freshness: .atMost(.seconds(10))).value

    #expect(origin.exchanges.map { $0.request.headers["If-None-Match"] } == ["\"1\"", "\"1\""])
  }

  @Test func `many callers share one question through memory, disk and limits`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { request in
      request.headers["If-None-Match"] == nil
        ? Response(headers: ["ETag": "\"7\""], body: Array(repeating: 1, count: 1 << 20))
        : Response(status: 304).held(by: hold, afterBodyBytes: 0)
    }
    let scene = DiskScene()
    let cache = memory().layered(
      over: scene.open().mapKeys(\.absoluteString)
        .layered(over: HTTPSource().limited(to: 2)).reusingInFlight())
    let url = try origin.url("/a")
    _ = try await cache.get(url).value
    try await cache.flush().value
    clock.advance(by: .seconds(11))

    let lookup = Lookup(freshness: .atMost(.seconds(-1)))
    let callers = (0..<50).map { _ in
      Recorder<Stamped<Data>>().subscribe(to: cache.getStamped(url, lookup))
    }
    hold.release()
    for caller in callers { try await caller.ended() }

    #expect(callers.allSatisfy { $0.values.first?.value.count == 1 << 20 })
    #expect(origin.exchanges.count == 2)
  }

  @Test func `over an HTTP cache the question is that cache's`() async throws {
    let origin = try origin(["ETag": "\"7\"", "Cache-Control": "max-age=0"])
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 10)
    let cache = memory().layered(
      over: HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store)))
    let url = try origin.url("/a")
    _ = try await cache.get(url).value

    #expect(try await cache.get(url).value == Data("hello".utf8))
    #expect(origin.exchanges.map { $0.request.headers["If-None-Match"] } == [nil, "\"7\""])
  }
}
