import Foundation
import LoopbackServer
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// An HTTP cache between an `HTTPSource` and a real server, over memory and disk.
@Suite struct HTTPCacheOriginTests {
  private let scene = MediaScene()

  private func disk() -> DiskCache {
    DiskCache(directory: scene.folder, byteLimit: .mebibytes(16))
  }

  private func validating(_ body: [UInt8], _ fields: Headers = [:]) throws -> LoopbackServer {
    try LoopbackServer { request in
      var headers = fields
      headers["ETag"] = "\"1\""
      return request.headers["If-None-Match"] == "\"1\""
        ? Response(status: 304, headers: headers) : Response(headers: headers, body: body)
    }
  }

  @Test func `a value that did not change is validated, and its body does not move`() async throws {
    let body = [UInt8](repeating: 7, count: 1 << 20)
    let origin = try validating(body, ["Cache-Control": "no-cache"])
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let source = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store))
    let url = try origin.url("/a")

    for _ in 0..<3 { #expect(try await source.get(url).value == Data(body)) }

    #expect(origin.exchanges.map(\.request.headers["If-None-Match"]) == [nil, "\"1\"", "\"1\""])
  }

  @Test func `stored responses outlive a restart`() async throws {
    let origin = try validating([1, 2, 3], ["Cache-Control": "max-age=600"])
    let url = try origin.url("/a")
    let before = disk()
    let first = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: before))
    #expect(try await first.get(url).value == Data([1, 2, 3]))
    try await before.close().value

    let after = disk()
    let second = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: after))
    let stamped = try await second.getStamped(url, Lookup()).value
    #expect(stamped.value == Data([1, 2, 3]))
    #expect(stamped.validator == Validator(entityTag: "\"1\""))

    #expect(origin.exchanges.count == 1)
    try await after.close().value
  }

  @Test func `after a restart a stale response is validated`() async throws {
    let origin = try validating([1, 2, 3], ["Cache-Control": "no-cache"])
    let url = try origin.url("/a")
    for _ in 0..<2 {
      let disk = disk()
      let source = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: disk))
      #expect(try await source.get(url).value == Data([1, 2, 3]))
      try await disk.close().value
    }

    #expect(origin.exchanges.map(\.request.headers["If-None-Match"]) == [nil, "\"1\""])
  }

  @Test func `memory over disk answers from memory, and from disk once memory is empty`()
    async throws
  {
    let origin = try validating([1, 2, 3], ["Cache-Control": "max-age=600"])
    let url = try origin.url("/a")
    let memory = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let disk = disk()
    let store = memory.layered(over: disk.mapValues(.httpRecords))
    let source = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store))

    #expect(try await source.get(url).value == Data([1, 2, 3]))
    memory.removeAll()
    #expect(try await source.get(url).value == Data([1, 2, 3]))

    #expect(origin.exchanges.count == 1)
    try await disk.close().value
  }

  @Test func `caches above keep a value for as long as its origin says`() async throws {
    let origin = try LoopbackServer { request in
      switch request.path {
      case "/fresh": Response(headers: ["Cache-Control": "max-age=600", "Age": "100"], body: [1])
      case "/no-store": Response(headers: ["Cache-Control": "no-store"], body: [1])
      default: Response(body: [1])
      }
    }
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let source = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store))
    let memory = MemoryCache<URL, Data>(countLimit: 100)
    let layers = memory.layered(over: source)

    let fresh = try await source.getStamped(origin.url("/fresh"), Lookup()).value
    #expect(fresh.age >= .seconds(100))
    guard case .after(let rest) = fresh.timeToLive else {
      Issue.record("no time to live")
      return
    }
    #expect(rest <= .seconds(500) && rest > .zero)
    for path in ["/fresh", "/no-store", "/unstated"] {
      _ = try await layers.get(origin.url(path)).value
    }

    #expect(memory.now(try origin.url("/fresh"), Lookup()) != nil)
    #expect(memory.now(try origin.url("/no-store"), Lookup()) == nil)
    #expect(memory.now(try origin.url("/unstated"), Lookup()) == nil)
  }

  @Test func `a reload is validated, and a get of a limited age asks once it is older`()
    async throws
  {
    let origin = try validating([1], ["Cache-Control": "max-age=600", "Age": "100"])
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let source = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store))
    let url = try origin.url("/a")

    _ = try await source.get(url).value
    _ = try await source.get(url, freshness: .atMost(.seconds(500))).value
    #expect(origin.exchanges.count == 1)
    _ = try await source.get(url, freshness: .atMost(.seconds(50))).value
    #expect(origin.exchanges.count == 2)
    _ = try await source.get(url, freshness: .reload).value

    #expect(
      origin.exchanges.map(\.request.headers["If-None-Match"]) == [nil, "\"1\"", "\"1\""])
  }

  /// Also through a transport that wraps the cache and passes its capabilities on.
  @Test(arguments: [false, true])
  func `a get that wants a stale value at once gets it first, and then the newer one`(
    isWrapped: Bool
  ) async throws {
    let count = Locked<UInt8>(0)
    let origin = try LoopbackServer { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      let terms = ["/stale": "max-age=0", "/fresh": "max-age=600"][request.path] ?? "no-cache"
      return Response(headers: ["Cache-Control": terms], body: [number])
    }
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let cache = HTTPCache(over: URLSessionTransport(), in: store)
    let source = HTTPSource(transport: isWrapped ? WrappingTransport(base: cache) : cache)
    for path in ["/stale", "/fresh", "/no-cache"] {
      _ = try await source.get(origin.url(path)).value
    }

    let lookup = Lookup(stale: .atOnce)
    let stale = try await Recorder.outcome(of: source, origin.url("/stale"), lookup)
    let fresh = try await Recorder.outcome(of: source, origin.url("/fresh"), lookup)
    let neither = try await Recorder.outcome(of: source, origin.url("/no-cache"), lookup)
    let absent = try await Recorder.outcome(of: source, origin.url("/absent"), lookup)

    #expect(stale.values == [Data([1]), Data([4])])
    #expect(fresh.values == [Data([2])])
    #expect(neither.values == [Data([5])])
    #expect(absent.values == [Data([6])])
  }

  @Test(arguments: [
    ("301", "max-age=600", 2), ("302", "max-age=600", 4), ("302 max-age=600", "max-age=600", 2),
    ("301", "no-store", 4), ("301 no-cache", "max-age=600", 4), ("301", "max-age=0", 4),
  ])
  func `a layer above keeps what came by a redirect only while all answers are fresh`(
    redirect: String, terms: String, requests: Int
  ) async throws {
    let origin = try LoopbackServer { request in
      if request.path == "/new" { return Response(headers: ["Cache-Control": terms], body: [1]) }
      let words = redirect.split(separator: " ", maxSplits: 1).map(String.init)
      return Response(
        status: Int(words[0]) ?? 0,
        headers: words.count > 1
          ? ["Location": "/new", "Cache-Control": words[1]] : ["Location": "/new"])
    }
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let values = MemoryCache<URL, Data>(countLimit: 100)
      .layered(over: HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store)))

    for _ in 0..<2 { #expect(try await values.get(origin.url("/old")).value == Data([1])) }

    #expect(origin.exchanges.count == requests)
  }

  @Test func `media files come from stored responses`() async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["Cache-Control": "max-age=600", "ETag": "\"1\""], body: MediaScene.film)
    }
    let url = try origin.url("/film")
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let source = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store))
    _ = try await source.get(url).value

    let file = try await scene.media(over: source).get(url).value

    #expect(try Data(contentsOf: file.url) == Data(MediaScene.film))
    #expect(origin.exchanges.count == 1)
  }

  @Test func `a date in the future is no longer freshness`() async throws {
    let origin = try LoopbackServer { _ in
      Response(
        headers: [
          "Date": CachingRow.date(500_000_000), "Expires": CachingRow.date(0),
          "Last-Modified": CachingRow.date(-1_000),
        ], body: [1])
    }
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let source = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store))

    for _ in 0..<2 { _ = try await source.get(origin.url("/a")).value }

    #expect(origin.exchanges.count == 2)
  }

  @Test func `the answer to a cancelled validation is not waited for`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { request in
      let response = Response(headers: ["Cache-Control": "no-cache", "ETag": "\"1\""], body: [1])
      return request.headers["If-None-Match"] == nil ? response : response.held(by: hold)
    }
    let url = try origin.url("/a")
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let source = HTTPSource(transport: HTTPCache(over: URLSessionTransport(), in: store))
    _ = try await source.get(url).value

    let caller = Recorder<Data>().subscribe(to: source.get(url))
    #expect(await origin.eventually { $0.exchanges.count == 2 })
    caller.dispose()

    #expect(
      await origin.eventually { snapshot in
        if case .clientClosed = snapshot.exchanges.last?.outcome { true } else { false }
      })
    hold.release()
  }
}

private struct WrappingTransport: HTTPTransport {
  let base: any HTTPTransport
  var capabilities: TransportCapabilities { base.capabilities }

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> { base.send(request) }
}
