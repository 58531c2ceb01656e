import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Reloads that meet older transfers, or bring nothing to store.
@Suite(.heavy) struct HTTPCacheReloadTests {
  private let transport = ImpoliteTransport()
  private let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)

  private var cache: HTTPCache { HTTPCache(over: transport, in: store) }

  private func ask(_ cache: HTTPCache, _ fields: String = "") throws -> Recorder<HTTPPart> {
    Recorder().subscribe(to: cache.send(try HTTPCacheScene.request(fields)))
  }

  private func whole(_ cache: HTTPCache) throws -> String {
    HTTPCacheScene.text(try ask(cache, "only-if-cached"))
  }

  private func answer(_ number: Int, _ fields: String, _ body: String) {
    transport.head(number, 200, fields + " | Content-Length: \(body.utf8.count)")
    transport.body(number, body)
    transport.end(number)
  }

  @Test(arguments: ["no-cache", "max-age=0", "Pragma: no-cache"], [false, true])
  func `an answer that comes after that of a later reload does not replace it`(
    reload: String, isConfirmed: Bool
  ) throws {
    let cache = cache
    let first = try ask(cache)
    answer(0, "max-age=0 | ETag: \"a\"", "first")
    #expect(HTTPCacheScene.text(first) == "200 first")

    let older = try ask(cache)
    let newer = try ask(cache, reload)
    answer(2, "max-age=60 | ETag: \"c\"", "newer")
    if isConfirmed {
      transport.head(1, 304, "max-age=60 | ETag: \"a\"")
    } else {
      answer(1, "max-age=60 | ETag: \"b\"", "older")
    }
    older.dispose()

    #expect(HTTPCacheScene.text(newer) == "200 newer")
    #expect(try whole(cache) == "200 age 0 newer")
  }

  @Test(arguments: [200, 304, 410])
  func `an answer that comes after that of a later request with other terms changes nothing`(
    status: Int
  ) throws {
    let time = Locked(CachingRow.arrival)
    let cache = HTTPCache(
      over: transport, in: store,
      now: {
        time.withLock { time in
          time += 1
          return Date(timeIntervalSince1970: Double(time))
        }
      })
    _ = try ask(cache)
    answer(0, "max-age=0 | ETag: \"a\"", "first")
    let older = try ask(cache)
    let newer = try ask(cache, "max-age=30")
    answer(2, "max-age=600 | ETag: \"c\"", "newer")

    if status == 304 {
      transport.head(1, 304, "no-store | ETag: \"a\"")
    } else {
      transport.head(1, status, status == 200 ? "max-age=600 | Content-Length: 5" : "no-store")
      transport.body(1, "older")
      transport.end(1)
    }

    #expect(HTTPCacheScene.text(newer) == "200 newer")
    #expect(older.isCompleted)
    #expect(try whole(cache).hasSuffix("newer"))
  }

  @Test func `what must not be stored is removed, also by a store that refuses a fill`() throws {
    let refusing = FillRefusingStore()
    let cache = HTTPCache(over: transport, in: refusing)
    for (number, value) in ["1", "2"].enumerated() {
      _ = try ask(cache, "X: \(value)")
      answer(number, "max-age=0 | Vary: X | ETag: \"\(value)\"", value)
    }
    refusing.refuses.withLock { $0 = true }

    let caller = try ask(cache, "X: 1")
    transport.head(2, 304, "no-store | Vary: X | ETag: \"1\"")

    #expect(HTTPCacheScene.text(caller) == "200 age 0 1")
    #expect(try HTTPCacheScene.text(ask(cache, "X: 1 | only-if-cached, max-stale")) == "504")
    #expect(try HTTPCacheScene.text(ask(cache, "X: 2 | only-if-cached, max-stale")).hasSuffix("2"))
  }

  @Test(arguments: ["no-cache", "Pragma: no-cache"])
  func `a reload does not share the transfer of an earlier one`(fields: String) throws {
    let cache = cache
    let earlier = try ask(cache, fields)
    let later = try ask(cache, fields)
    try #require(transport.requests.count == 2)

    answer(0, "max-age=60", "earlier")
    answer(1, "max-age=60", "later")

    #expect(HTTPCacheScene.text(earlier) == "200 earlier")
    #expect(HTTPCacheScene.text(later) == "200 later")
    #expect(try whole(cache) == "200 age 0 later")
  }

  @Test func `gets that only admit no stored value share a transfer`() throws {
    let cache = cache
    let lookup = Lookup(freshness: .atMost(.seconds(-1)))
    let request = try HTTPCacheScene.request("").forLookup(lookup)
    let callers = (0..<2).map { _ in Recorder().subscribe(to: cache.send(request)) }

    try #require(transport.requests.count == 1)
    answer(0, "max-age=60", "one")

    for caller in callers { #expect(HTTPCacheScene.text(caller) == "200 one") }
  }

  @Test func `a reload that brings nothing to store leaves no older answer`() throws {
    let cache = cache
    _ = try ask(cache)
    answer(0, "max-age=0 | ETag: \"a\"", "first")

    let older = try ask(cache)
    let reload = try ask(cache, "no-cache")
    answer(1, "max-age=60 | ETag: \"b\"", "older")
    answer(2, "no-store", "newer")

    #expect(HTTPCacheScene.text(older) == "200 older")
    #expect(HTTPCacheScene.text(reload) == "200 newer")
    #expect(try whole(cache) == "504")
  }

  @Test func `of a response that must not be stored not even the address is`() throws {
    let cache = cache

    _ = try ask(cache, "no-cache")
    answer(0, "no-store", "newer")

    #expect(store.count == 0)
  }

  @Test func `a reload whose body turns out to be too large leaves no older answer`() throws {
    let cache = HTTPCache(over: transport, in: store, byteLimit: 10)
    _ = try ask(cache)
    answer(0, "max-age=60", "first")

    let reload = try ask(cache, "no-cache")
    transport.head(1, 200, "max-age=60")
    for _ in 0..<3 { transport.body(1, "012345") }
    transport.end(1)

    #expect(HTTPCacheScene.text(reload) == "200 012345 012345 012345")
    #expect(try whole(cache) == "504")
  }

  @Test(arguments: [200, 404, 503])
  func `a reload that brings nothing to store removes what it shows to be out of date`(
    status: Int
  ) async throws {
    let scene = HTTPCacheScene { _, number in
      number == 1 ? .ok("max-age=60", "first") : .status(status, "no-store", "later")
    }
    _ = try await scene.send()

    #expect(try await scene.send("no-cache") == "\(status) la ter")

    // A failure of the origin says nothing about what is stored.
    let stored = try await scene.send("only-if-cached")
    #expect(stored == (status == 503 ? "200 age 0 first" : "504"))
  }
}

/// A store that refuses fills while it is told to, as a store may at any time.
private struct FillRefusingStore: Cache {
  let refuses = Locked(false)
  private let base = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)

  func get(_ key: String, _ lookup: Lookup) -> Signal<HTTPCacheRecord> { base.get(key, lookup) }

  func apply(_ change: Change<String, HTTPCacheRecord>) -> Signal<Void> {
    change.isFill && refuses.withLock { $0 } ? .just(()) : base.apply(change)
  }
}
