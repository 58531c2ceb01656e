import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// HTTP caches over a transport whose answers come after the request was cancelled, twice, or from
/// other threads.
@Suite(.heavy) struct HTTPCacheImpoliteTests {
  private let transport = ImpoliteTransport()
  private let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
  private static let fields = "max-age=60 | ETag: \"a\" | Content-Length: 10"
  private static let rest = "ETag: \"a\" | Content-Range: bytes 6-9/10"

  private var cache: HTTPCache { HTTPCache(over: transport, in: store) }

  private func ask(_ cache: HTTPCache, _ fields: String = "") throws -> Recorder<HTTPPart> {
    Recorder().subscribe(to: cache.send(try HTTPCacheScene.request(fields)))
  }

  /// Stores the first six of ten bytes.
  private func begin(_ cache: HTTPCache) throws {
    let first = try ask(cache)
    transport.head(0, 200, Self.fields)
    transport.body(0, "012345")
    first.dispose()
  }

  private func whole(_ cache: HTTPCache) throws -> String {
    HTTPCacheScene.text(try ask(cache, "only-if-cached"))
  }

  @Test func `an answer after the last caller has left changes nothing in the store`() throws {
    let cache = cache
    try begin(cache)

    transport.body(0, "6789")
    transport.end(0)
    transport.head(0, 200, Self.fields)
    #expect(try whole(cache) == "504")

    let second = try ask(cache)
    transport.head(1, 206, Self.rest)
    second.dispose()
    transport.body(1, "6789")
    transport.end(1)
    #expect(try whole(cache) == "504")

    let third = try ask(cache)
    #expect(transport.requests.map { $0.headers["Range"] } == [nil, "bytes=6-", "bytes=6-"])
    transport.head(2, 206, Self.rest)
    transport.body(2, "6789")
    transport.end(2)
    #expect(HTTPCacheScene.text(third) == "200 012345 6789")
    #expect(try whole(cache) == "200 age 0 0123456789")
  }

  @Test func `an answer that came twice is taken once`() throws {
    let cache = cache
    try begin(cache)

    let caller = try ask(cache)
    for _ in 0..<2 {
      transport.head(1, 206, Self.rest)
      transport.body(1, "6789")
      transport.end(1)
    }
    transport.end(1, URLError(.timedOut))

    #expect(HTTPCacheScene.text(caller) == "200 012345 6789")
    #expect(try whole(cache) == "200 age 0 0123456789")
  }

  @Test(arguments: [304, 416])
  func `an answer that was given up for a request of the whole is not mixed with it`(
    status: Int
  ) throws {
    let cache = cache
    try begin(cache)

    let caller = try ask(cache)
    transport.head(1, status, "ETag: \"a\"")
    transport.body(1, "x")
    transport.head(2, 200, Self.fields)
    transport.head(1, 206, Self.rest)
    transport.body(2, "abcde")
    transport.body(1, "y")
    transport.end(1, URLError(.timedOut))
    transport.body(2, "fghij")
    transport.end(1)
    transport.end(2)

    #expect(HTTPCacheScene.text(caller) == "200 abcde fghij")
    #expect(try whole(cache) == "200 age 0 abcdefghij")
  }

  @Test func `the end of a 304 of another version is not the end of the request for the whole`()
    throws
  {
    let cache = cache
    _ = try ask(cache)
    transport.head(0, 200, "max-age=0 | ETag: \"a\"")
    transport.body(0, "body")
    transport.end(0)

    let caller = try ask(cache)
    transport.head(1, 304, "ETag: \"b\"")
    transport.end(1)
    transport.head(2, 200, "max-age=60")
    transport.body(2, "new")
    transport.end(1, URLError(.timedOut))
    transport.end(2)

    #expect(HTTPCacheScene.text(caller) == "200 new")
    #expect(try whole(cache) == "200 age 0 new")
  }

  @Test func `a late answer to a validation confirms nothing after a removal`() throws {
    let cache = cache
    let first = try ask(cache)
    transport.head(0, 200, "max-age=0 | ETag: \"a\"")
    transport.body(0, "body")
    transport.end(0)
    #expect(first.isCompleted)
    let second = try ask(cache)
    second.dispose()

    store.removeAll()
    transport.head(1, 304, "max-age=60 | ETag: \"a\"")
    transport.end(1)

    #expect(store.count == 0)
    #expect(try whole(cache) == "504")
  }

  @Test func `a caller after a change at the origin shares no answer from before it`() throws {
    let cache = cache
    let before = try ask(cache)
    let change = Recorder<HTTPPart>().subscribe(
      to: cache.send(HTTPRequest(url: try HTTPCacheScene.request().url, method: .post)))
    transport.head(1, 204, "")
    transport.end(1)
    #expect(change.isCompleted)

    let after = try ask(cache)
    #expect(transport.requests.count == 3)
    transport.head(2, 200, "max-age=60")
    transport.body(2, "new")
    transport.end(2)
    transport.head(0, 200, "max-age=60")
    transport.body(0, "old")
    transport.end(0)

    #expect(HTTPCacheScene.text(before) == "200 old")
    #expect(HTTPCacheScene.text(after) == "200 new")
    #expect(try whole(cache) == "200 age 0 new")
    #expect(store.count == 2)
  }

  @Test(arguments: [("/a", 0, false), ("/a", 1, false), ("/a", 1, true), ("/b", 0, false)])
  func `a store that answers late makes nothing run for a caller that has left`(
    path: String, steps: Int, isEvicted: Bool
  ) throws {
    _ = try ask(cache)
    transport.head(0, 200, Self.fields)
    transport.body(0, "0123456789")
    transport.end(0)
    for head in store.now("heads http://origin.test/a", Lookup())?.heads ?? [] where isEvicted {
      _ = store.remove(head.bodyPlace)
    }
    let (late, calls) = (LateStore(base: store), Locked(0))
    let cache = HTTPCache(
      over: transport, in: late,
      onDecision: { _, _ in calls.withLock { $0 += 1 } })
    let caller = cache.send(try HTTPCacheScene.request(path: path))
      .map { _ in calls.withLock { $0 += 1 } }.subscribe()
    for _ in 0..<steps { late.answer() }
    let before = (calls.withLock { $0 }, transport.requests.count)

    caller.dispose()
    for _ in 0..<3 { late.answer() }

    #expect(calls.withLock { $0 } == before.0)
    #expect(transport.requests.count == before.1)
  }

  @Test func `callers that leave while another thread delivers leave a beginning or the whole`()
    async throws
  {
    for round in 0..<200 {
      let (transport, store) = (
        ImpoliteTransport(), MemoryCache<String, HTTPCacheRecord>(countLimit: 9)
      )
      let cache = HTTPCache(over: transport, in: store)
      let caller = try ask(cache)
      transport.head(0, 200, Self.fields)
      let done = Watched(0)
      DispatchQueue(label: "answering").async {
        for digit in 0..<10 { transport.body(0, "\(digit)") }
        transport.end(0)
        done.change { $0 += 1 }
      }
      DispatchQueue(label: "leaving").async {
        for _ in 0..<round { _ = cache.capabilities }
        caller.dispose()
        done.change { $0 += 1 }
      }
      try await done.wait(for: "both threads") { $0 == 2 }

      let next = try ask(cache)
      if let range = transport.requests.last?.headers["Range"] {
        let count = Int(range.dropFirst(6).dropLast()) ?? 0
        transport.head(1, 206, "ETag: \"a\" | Content-Range: bytes \(count)-9/10")
        transport.body(1, String("0123456789".dropFirst(count)))
        transport.end(1)
      } else if transport.requests.count == 2 {
        transport.head(1, 200, Self.fields)
        transport.body(1, "0123456789")
        transport.end(1)
      }
      let text = HTTPCacheScene.text(next).split(separator: " ")
      #expect(text.first == "200" && text.last.map { $0.hasSuffix("9") } == true)
      // Two threads and two hundred rounds may take more than a second.
      let stored = try whole(cache)
      #expect(stored.hasPrefix("200 age ") && stored.hasSuffix(" 0123456789"))
    }
  }
}

/// A cache that answers when a test says so, also gets that were cancelled.
private final class LateStore: Cache {
  private let base: MemoryCache<String, HTTPCacheRecord>
  private let gets = Locked<[@Sendable () -> Void]>([])

  init(base: MemoryCache<String, HTTPCacheRecord>) { self.base = base }

  func get(_ key: String, _ lookup: Lookup) -> Signal<HTTPCacheRecord> {
    Signal { [base, gets] observer, _ in
      gets.withLock { gets in
        gets.append {
          base.get(key, lookup).subscribe(
            onNext: { observer.next($0) }, onCompleted: { observer.completed() })
        }
      }
    }
  }

  func apply(_ change: Change<String, HTTPCacheRecord>) -> Signal<Void> { base.apply(change) }

  /// Answers the gets so far.
  func answer() {
    for get in gets.withLock({ exchange(&$0, with: []) }) { get() }
  }
}
