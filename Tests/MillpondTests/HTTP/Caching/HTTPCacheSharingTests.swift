import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Requests that are under way together, refreshes, and what is cancelled.
@Suite struct HTTPCacheSharingTests {
  private let transport = TestTransport()
  private let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
  private let seconds = Locked(0)

  private func cache(
    byteLimit: Int = 1 << 20, in store: (any Cache<String, HTTPCacheRecord>)? = nil
  ) -> HTTPCache {
    HTTPCache(
      over: transport, in: store ?? self.store, byteLimit: byteLimit,
      now: { [seconds] in
        Date(timeIntervalSince1970: Double(CachingRow.arrival + seconds.withLock { $0 }))
      })
  }

  private func at(_ time: Int) { seconds.withLock { $0 = time } }

  private func ask(_ cache: HTTPCache, _ fields: String = "") throws -> Recorder<HTTPPart> {
    Recorder().subscribe(to: cache.send(try HTTPCacheScene.request(fields)))
  }

  private func answer(_ fields: String, status: Int = 200, _ body: String? = "body") {
    transport.source.next(.head(HTTPHead(status: status, headers: CachingRow.fields(fields))))
    if let body { transport.source.next(.body(Data(body.utf8))) }
    transport.source.completed()
  }

  /// Stores a response that is stale from second 60 on.
  private func fill(_ cache: HTTPCache, _ fields: String = "max-age=60 | ETag: \"a\"") throws {
    let first = try ask(cache)
    answer(fields)
    #expect(first.isCompleted)
  }

  @Test func `many callers of a stale response share one validation`() throws {
    let cache = cache()
    try fill(cache)
    at(60)

    let callers = try (0..<10).map { _ in try ask(cache) }
    #expect(transport.source.subscriptions == 2)
    answer("ETag: \"a\"", status: 304, nil)

    #expect(
      callers.map { HTTPCacheScene.text($0) } == Array(repeating: "200 age 0 body", count: 10))
  }

  @Test func `a caller that joins late gets the answer from its first part on`() throws {
    let cache = cache()
    let first = try ask(cache)
    transport.source.next(.head(HTTPHead(status: 200, headers: CachingRow.fields("max-age=60"))))
    transport.source.next(.body(Data("bo".utf8)))

    let late = try ask(cache)
    transport.source.next(.body(Data("dy".utf8)))
    transport.source.completed()

    #expect(HTTPCacheScene.text(first) == "200 bo dy")
    #expect(HTTPCacheScene.text(late) == "200 bo dy")
    #expect(transport.source.subscriptions == 1)
  }

  @Test func `an answer that must not be stored is for one caller only`() throws {
    let cache = cache()
    let first = try ask(cache)
    let second = try ask(cache)
    #expect(transport.source.subscriptions == 1)

    transport.source.next(.head(HTTPHead(status: 200, headers: CachingRow.fields("no-store"))))

    #expect(transport.source.subscriptions == 2)
    #expect(first.values.count == 1)
    #expect(second.values.isEmpty)
  }

  @Test func `an answer that must not be stored is not shared by requests with no-store either`()
    throws
  {
    let cache = cache()
    let callers = [try ask(cache, "no-store"), try ask(cache, "no-store")]

    transport.source.next(.head(HTTPHead(status: 200, headers: CachingRow.fields("no-store"))))

    #expect(transport.source.subscriptions == 2)
    #expect(callers.map(\.values.count) == [1, 0])
  }

  @Test func `a body beyond the limit is not kept for callers that join late`() throws {
    let cache = cache(byteLimit: 3)
    let first = try ask(cache)
    transport.source.next(.head(HTTPHead(status: 200, headers: CachingRow.fields("max-age=60"))))
    transport.source.next(.body(Data("body".utf8)))

    let late = try ask(cache)
    #expect(late.values.isEmpty)
    #expect(transport.source.subscriptions == 2)
    transport.source.runs[0].completed()

    #expect(HTTPCacheScene.text(first) == "200 body")
  }

  @Test func `requests with other fields are not shared`() throws {
    let cache = cache()

    for fields in ["A: 1", "A: 2", "B: 1", "Authorization: x", "no-store", ""] {
      _ = try ask(cache, fields)
    }

    #expect(transport.source.subscriptions == 6)
  }

  @Test func `requests with other credentials are not shared`() throws {
    let cache = cache()
    let url = try HTTPCacheScene.request().url

    for token in ["a", "b", "a"] {
      let request = HTTPRequest(url: url, credentials: ["Authorization": "Bearer \(token)"])
      Recorder<HTTPPart>().subscribe(to: cache.send(request))
    }

    #expect(transport.source.subscriptions == 2)
  }

  @Test func `an interim answer is none`() throws {
    let cache = cache()
    let caller = try ask(cache)

    transport.source.next(.head(HTTPHead(status: 103, headers: ["Cache-Control": "no-store"])))
    answer("max-age=60")

    #expect(HTTPCacheScene.text(caller) == "200 body")
    #expect(HTTPCacheScene.text(try ask(cache)) == "200 age 0 body")
  }

  @Test func `one caller that leaves does not disturb the others`() throws {
    let cache = cache()
    try fill(cache)
    at(60)
    let leaving = try ask(cache)
    let staying = try ask(cache)

    leaving.dispose()
    answer("ETag: \"a\"", status: 304, nil)

    #expect(leaving.events.isEmpty)
    #expect(HTTPCacheScene.text(staying) == "200 age 0 body")
  }

  @Test func `the last caller that leaves cancels a validation, and what is stored stays`() throws {
    let cache = cache()
    try fill(cache)
    at(60)
    let caller = try ask(cache)

    caller.dispose()

    #expect(transport.source.runs[1].isDisposed)
    let other = try ask(cache, "max-stale")
    #expect(HTTPCacheScene.text(other) == "200 age 60 body")
  }

  @Test func `a transfer that is cancelled in its body stores nothing`() throws {
    let cache = cache()
    let caller = try ask(cache)
    transport.source.next(.head(HTTPHead(status: 200, headers: CachingRow.fields("max-age=60"))))
    transport.source.next(.body(Data("bo".utf8)))

    caller.dispose()

    #expect(HTTPCacheScene.text(try ask(cache, "only-if-cached")) == "504")
  }

  @Test func `removing everything wins over a transfer that began before`() throws {
    let cache = cache()
    let caller = try ask(cache)

    store.removeAll()
    answer("max-age=60")

    #expect(HTTPCacheScene.text(caller) == "200 body")
    #expect(HTTPCacheScene.text(try ask(cache, "only-if-cached")) == "504")
  }

  @Test func `removing everything wins over a validation that began before`() throws {
    let cache = cache()
    try fill(cache)
    at(60)
    _ = try ask(cache)

    store.removeAll()
    answer("max-age=60 | ETag: \"a\"", status: 304, nil)

    #expect(store.now("heads http://origin.test/a", Lookup()) == nil)
  }

  // MARK: stale-while-revalidate

  @Test func `a stale response is the answer while one refresh asks for a newer one`() throws {
    let cache = cache()
    try fill(cache, "max-age=60, stale-while-revalidate=60 | ETag: \"a\"")
    at(90)

    let callers = try (0..<3).map { _ in try ask(cache) }

    #expect(
      callers.map { HTTPCacheScene.text($0) } == Array(repeating: "200 age 90 body", count: 3))
    #expect(transport.source.subscriptions == 2)
    answer("max-age=60", "news")
    #expect(HTTPCacheScene.text(try ask(cache)) == "200 age 0 news")
  }

  @Test func `a request that accepts only what is stored refreshes nothing`() throws {
    let cache = cache()
    try fill(cache, "max-age=60, stale-while-revalidate=60")
    at(90)

    #expect(HTTPCacheScene.text(try ask(cache, "only-if-cached")) == "200 age 90 body")
    #expect(transport.source.subscriptions == 1)
  }

  @Test func `removing everything through a source ends refreshes and shares no earlier transfer`()
    async throws
  {
    let cache = cache()
    try fill(cache, "max-age=60, stale-while-revalidate=60")
    at(90)
    _ = try ask(cache)
    let former = Recorder<HTTPPart>().subscribe(
      to: cache.send(try HTTPCacheScene.request(path: "/b")))
    #expect(transport.source.activeRuns == 2)

    try await HTTPSource(transport: cache).apply(.removeAll(.next())).value
    #expect(transport.source.activeRuns == 1)
    let next = Recorder<HTTPPart>().subscribe(
      to: cache.send(try HTTPCacheScene.request(path: "/b")))

    #expect(transport.source.activeRuns == 2)
    former.dispose()
    next.dispose()
  }

  @Test func `a part of a stale response is not refreshed, since its answer is not stored`() throws
  {
    let cache = cache()
    try fill(cache, "max-age=60, stale-while-revalidate=60")
    at(90)

    #expect(HTTPCacheScene.text(try ask(cache, "Range: bytes=0-1")) == "206 age 90 bo")
    #expect(transport.source.subscriptions == 1)
  }

  @Test(arguments: [("", 95), ("Retry-After: 20", 110)])
  func `a refresh that fails leaves what is stored, and is repeated after a pause`(
    fields: String, end: Int
  ) throws {
    let cache = cache()
    try fill(cache, "max-age=60, stale-while-revalidate=60")
    at(90)
    _ = try ask(cache)

    answer(fields, status: 503)

    for time in [90, end - 1] {
      at(time)
      #expect(HTTPCacheScene.text(try ask(cache)) == "200 age \(time) body")
    }
    #expect(transport.source.subscriptions == 2)
    at(end)
    _ = try ask(cache)
    #expect(transport.source.subscriptions == 3)
  }

  @Test func `a refresh begins only once the caller has what is stored`() throws {
    let store = SlowStore()
    let cache = cache(in: store)
    try fill(cache, "max-age=60, stale-while-revalidate=60")
    at(90)
    store.hold { $0.hasPrefix("body ") }

    let caller = try ask(cache)
    #expect(transport.source.subscriptions == 1)
    store.release()

    #expect(HTTPCacheScene.text(caller) == "200 age 90 body")
    #expect(transport.source.subscriptions == 2)
  }

  @Test func `a caller whose body was replaced meanwhile gets the newer one without a request`()
    throws
  {
    let store = SlowStore()
    let cache = cache(in: store)
    try fill(cache, "max-age=60")
    store.hold { $0.hasPrefix("body ") }
    let caller = try ask(cache, "only-if-cached")

    _ = try ask(cache, "no-cache")
    answer("max-age=60", "news")
    store.release()

    #expect(HTTPCacheScene.text(caller) == "200 age 0 news")
    #expect(transport.source.subscriptions == 2)
  }

  @Test(arguments: [("stale-if-error=60", 2), ("must-revalidate", 4)])
  func `an origin that asks for a pause is not asked again while a stored response may stand in`(
    directive: String, requests: Int
  ) throws {
    let cache = cache()
    try fill(cache, "max-age=60, \(directive)")
    at(90)

    for _ in 0..<3 {
      let count = transport.source.subscriptions
      _ = try ask(cache)
      if transport.source.subscriptions > count { answer("Retry-After: 20", status: 503) }
    }

    #expect(transport.source.subscriptions == requests)
  }

  @Test func `at most sixteen refreshes run at a time`() throws {
    let cache = cache()
    let requests = try (0..<17).map { try HTTPCacheScene.request(path: "/\($0)") }
    for request in requests {
      Recorder<HTTPPart>().subscribe(to: cache.send(request))
      answer("max-age=60, stale-while-revalidate=60")
    }
    at(90)

    for request in requests {
      let caller = Recorder<HTTPPart>().subscribe(to: cache.send(request))
      #expect(HTTPCacheScene.text(caller) == "200 age 90 body")
    }

    #expect(transport.source.activeRuns == 16)
  }

  @Test func `the release of the cache cancels its refreshes`() throws {
    var cache: HTTPCache? = cache()
    try fill(try #require(cache), "max-age=60, stale-while-revalidate=60")
    at(90)
    for _ in 0..<2 {
      if let cache { _ = try ask(cache) }
    }
    #expect(transport.source.activeRuns == 1)

    cache = nil

    #expect(transport.source.activeRuns == 0)
  }

  @Test func `a refresh does not hold callers back, nor is it cancelled with them`() throws {
    let cache = cache()
    try fill(cache, "max-age=60, stale-while-revalidate=60")
    at(90)
    let caller = try ask(cache)

    caller.dispose()

    #expect(caller.isCompleted)
    #expect(transport.source.activeRuns == 1)
  }
}
