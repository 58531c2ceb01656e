import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Responses that broke off, and what becomes of their beginnings.
@Suite struct HTTPCacheResumingTests {
  private static let fields = "max-age=60 | ETag: \"a\" | Content-Length: 10"

  /// A scene whose first answer breaks off after six of ten bytes.
  private func scene(
    _ fields: String = fields,
    store: any Cache<String, HTTPCacheRecord> = MemoryCache(countLimit: 9),
    _ later: @escaping @Sendable (HTTPRequest, Int) -> ScriptedOrigin.Answer
  ) -> HTTPCacheScene {
    HTTPCacheScene(store: store) { request, number in
      number == 1
        ? .init(fields: fields, body: "012345", failure: URLError(.networkConnectionLost))
        : later(request, number)
    }
  }

  private static func rest(_ fields: String = "ETag: \"a\" | Content-Range: bytes 6-9/10")
    -> ScriptedOrigin.Answer
  {
    .status(206, fields, "6789")
  }

  @Test func `the rest of a response that broke off is requested, and the whole is stored`()
    async throws
  {
    let scene = scene { _, _ in Self.rest() }
    #expect(try await scene.send().hasPrefix("failed"))

    #expect(try await scene.send() == "200 012345 67 89")
    #expect(try await scene.send() == "200 age 0 0123456789")

    #expect(scene.origin.values(of: "Range") == [nil, "bytes=6-"])
    #expect(scene.origin.values(of: "If-Range") == [nil, "\"a\""])
    #expect(
      scene.newReasons() == [
        .nothingStored, .incomplete, .incomplete, .statedFreshness, .fresh,
      ])
  }

  @Test func `the head of a combined response is that of a whole one, with the newer fields`()
    async throws
  {
    let scene = scene("max-age=60 | ETag: \"a\" | Content-Length: 10 | X: old | Content-Type: b/c")
    {
      _, _ in
      Self.rest(
        "max-age=90 | ETag: \"a\" | X: new | Content-Range: bytes 6-9/10 | Content-Length: 4")
    }
    _ = try await scene.send()

    let parts = Recorder<HTTPPart>().subscribe(to: scene.cache.send(try HTTPCacheScene.request()))
    guard case .head(let head)? = parts.values.first else { throw CancellationError() }

    #expect(head.status == 200)
    #expect(head.headers.values(of: "Content-Length") == ["10"])
    #expect(head.headers["Content-Range"] == nil)
    #expect(head.headers.values(of: "X") == ["new"] && head.headers["Content-Type"] == "b/c")
    scene.at(89)
    #expect(try await scene.send() == "200 age 89 0123456789")
  }

  @Test func `a caller that tries again at once in place of the failure continues`() async throws {
    let scene = scene { _, _ in Self.rest() }
    let request = try HTTPCacheScene.request()
    let cache = scene.cache

    _ = try await HTTPCacheScene.answer(
      cache.send(request).recover { _ in cache.send(request) })

    #expect(scene.origin.values(of: "Range") == [nil, "bytes=6-"])
  }

  @Test func `a response that has ended is no beginning, even if it stated no length`() async throws
  {
    let scene = HTTPCacheScene { _, _ in .ok("max-age=60 | ETag: \"a\"") }

    #expect(try await scene.send() == "200 bo dy")

    #expect(scene.newReasons() == [.nothingStored, .statedFreshness])
  }

  @Test func `a combined response states its length, also if its beginning had none`() async throws
  {
    let scene = scene("max-age=60 | ETag: \"a\"") { _, _ in Self.rest() }
    _ = try await scene.send()
    _ = try await scene.send()

    let parts = Recorder<HTTPPart>().subscribe(to: scene.cache.send(try HTTPCacheScene.request()))
    guard case .head(let head)? = parts.values.first else { throw CancellationError() }
    #expect(head.headers.values(of: "Content-Length") == ["10"])
    #expect(scene.origin.count == 2)
  }

  @Test func `a rest that breaks off too is continued from there`() async throws {
    let scene = scene { _, number in
      number == 2
        ? .init(
          status: 206, fields: "ETag: \"a\" | Content-Range: bytes 6-9/10", body: "67",
          failure: URLError(.timedOut))
        : .status(206, "ETag: \"a\" | Content-Range: bytes 8-9/10", "89")
    }
    _ = try await scene.send()
    _ = try await scene.send()

    #expect(try await scene.send() == "200 01234567 8 9")
    #expect(scene.origin.values(of: "Range") == [nil, "bytes=6-", "bytes=8-"])
  }

  @Test(arguments: [
    "ETag: \"b\" | Content-Range: bytes 6-9/10", "Content-Range: bytes 6-9/10",
    "ETag: W/\"a\" | Content-Range: bytes 6-9/10", "ETag: \"a\" | Content-Range: bytes 5-9/10",
    "ETag: \"a\" | Content-Range: bytes 6-8/10", "ETag: \"a\" | Content-Range: bytes 6-9/*",
    "ETag: \"a\" | Content-Range: bytes 6-10/11", "ETag: \"a\"",
    "ETag: \"a\" | Content-Range: bytes 6-9/10 | Content-Encoding: gzip",
    "ETag: \"a\" | Content-Range: bytes 99999999999999999999-9/10",
  ])
  func `a part that is not exactly the rest is not combined`(fields: String) async throws {
    let scene = scene { _, number in
      number == 2 ? Self.rest(fields) : .ok("max-age=60 | ETag: \"b\"", "abcd")
    }
    _ = try await scene.send()

    #expect(try await scene.send() == "200 ab cd")
    #expect(try await scene.send() == "200 age 0 abcd")

    #expect(scene.origin.values(of: "Range") == [nil, "bytes=6-", nil])
  }

  @Test func `a rest of another resource, to which a redirect led, is not combined`() async throws {
    let scene = scene { _, number in
      var rest = Self.rest()
      rest.redirection = Redirection()
      return number == 2 ? rest : .ok("max-age=60 | ETag: \"a\"", "abcdefghij")
    }
    _ = try await scene.send()

    #expect(try await scene.send() == "200 abcde fghij")
    #expect(scene.origin.values(of: "Range") == [nil, "bytes=6-", nil])
  }

  @Test(arguments: [304, 416])
  func `an origin that can't tell is asked for the whole once`(status: Int) async throws {
    let scene = scene { _, number in
      number == 2 ? .status(status, "ETag: \"a\"") : .ok("max-age=60 | ETag: \"a\"", "0123456789")
    }
    _ = try await scene.send()

    #expect(try await scene.send() == "200 01234 56789")
    #expect(scene.origin.count == 3)
  }

  @Test func `a newer version replaces the beginning, and an error leaves it`() async throws {
    let scene = scene { _, number in
      number == 2 ? .status(503) : .ok("max-age=60 | ETag: \"b\"", "abcd")
    }
    _ = try await scene.send()

    #expect(try await scene.send() == "503")
    #expect(try await scene.send() == "200 ab cd")
    #expect(try await scene.send() == "200 age 0 abcd")

    #expect(scene.origin.values(of: "Range") == [nil, "bytes=6-", "bytes=6-"])
  }

  @Test func `a beginning is never an answer`() async throws {
    let scene = scene { _, _ in .status(500) }
    _ = try await scene.send()

    #expect(try await scene.send("only-if-cached") == "504")
    #expect(try await scene.send("only-if-cached | Range: bytes=0-1") == "504")
    #expect(try await scene.send("max-stale | stale-if-error=99") == "500")
  }

  @Test func `a beginning is no answer either once its origin offers no ranges any more`()
    async throws
  {
    let scene = scene { request, _ in
      if request.method == .head {
        return .status(200, "\(Self.fields) | Accept-Ranges: none")
      }
      return request.headers["If-None-Match"] == nil
        ? .ok(Self.fields, "abcdefghij") : .status(304, "ETag: \"a\"")
    }
    _ = try await scene.send()
    let head = HTTPRequest(url: try HTTPCacheScene.request().url, method: .head)
    #expect(try await HTTPCacheScene.answer(scene.cache.send(head)) == "200")

    #expect(try await scene.send() == "200 abcde fghij")
  }

  @Test func `a beginning for other request fields is not asked about`() async throws {
    let scene = scene("\(Self.fields) | Vary: Foo") { _, _ in .ok("no-store", "x") }
    _ = try await scene.send("Foo: 1")

    _ = try await scene.send("Foo: 2")

    #expect(scene.origin.values(of: "If-None-Match") == [nil, nil])
  }

  @Test(arguments: [
    "max-age=60 | ETag: W/\"a\" | Content-Length: 10", "max-age=60 | Content-Length: 10",
    "max-age=60, no-store | ETag: \"a\" | Content-Length: 10",
    "max-age=60 | ETag: \"a\" | Content-Length: 10 | Vary: *",
    "max-age=60 | ETag: \"a\" | Content-Length: 10 | Content-Encoding: gzip",
    "max-age=60 | ETag: \"a\" | Content-Length: 10 | Accept-Ranges: none",
    "max-age=60 | ETag: \"a\" | Content-Length: 6", "max-age=60 | ETag: \"a\" | Content-Length: 5",
  ])
  func `a beginning that can't be continued, or must not be stored, is not`(
    fields: String
  ) async throws {
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 9)
    let scene = scene(fields, store: store) { _, _ in .ok("no-store", "x") }
    _ = try await scene.send()

    #expect(store.count == 0)
    _ = try await scene.send()
    #expect(scene.origin.values(of: "Range") == [nil, nil])
  }

  @Test func `a body that ends early without a failure is a beginning too`() async throws {
    let scene = HTTPCacheScene { _, number in
      number == 1 ? .ok(Self.fields, "012345") : Self.rest()
    }
    _ = try await scene.send()

    #expect(try await scene.send() == "200 012345 67 89")
  }

  @Test func `the beginning that the last caller leaves behind is stored, and only once`() throws {
    let transport = TestTransport()
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 9)
    let cache = HTTPCache(over: transport, in: store)
    let caller = Recorder<HTTPPart>().subscribe(to: cache.send(try HTTPCacheScene.request()))
    transport.source.next(.head(HTTPHead(status: 200, headers: CachingRow.fields(Self.fields))))
    transport.source.next(.body(Data("012345".utf8)))

    caller.dispose()

    #expect(store.count == 2)
    let next = Recorder<HTTPPart>().subscribe(to: cache.send(try HTTPCacheScene.request()))
    transport.source.next(
      .head(
        HTTPHead(
          status: 206, headers: CachingRow.fields("ETag: \"a\" | Content-Range: bytes 6-9/10"))))
    transport.source.next(.body(Data("6789".utf8)))
    transport.source.completed()
    #expect(HTTPCacheScene.text(next) == "200 012345 6789")
    #expect(store.count == 2)
  }

  @Test func `removing everything wins over a beginning from before`() throws {
    let transport = TestTransport()
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 9)
    let cache = HTTPCache(over: transport, in: store)
    let caller = Recorder<HTTPPart>().subscribe(to: cache.send(try HTTPCacheScene.request()))
    transport.source.next(.head(HTTPHead(status: 200, headers: CachingRow.fields(Self.fields))))
    transport.source.next(.body(Data("012345".utf8)))

    store.removeAll()
    caller.dispose()

    #expect(store.count == 0)
  }

  @Test func `removing everything wins over the rest of a response that broke off before`() throws {
    let transport = TestTransport()
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 9)
    let cache = HTTPCache(over: transport, in: store)
    let first = Recorder<HTTPPart>().subscribe(to: cache.send(try HTTPCacheScene.request()))
    transport.source.next(.head(HTTPHead(status: 200, headers: CachingRow.fields(Self.fields))))
    transport.source.next(.body(Data("012345".utf8)))
    first.dispose()
    let caller = Recorder<HTTPPart>().subscribe(to: cache.send(try HTTPCacheScene.request()))

    store.removeAll()
    transport.source.next(
      .head(
        HTTPHead(
          status: 206, headers: CachingRow.fields("ETag: \"a\" | Content-Range: bytes 6-9/10"))))
    transport.source.next(.body(Data("6789".utf8)))
    transport.source.completed()

    #expect(HTTPCacheScene.text(caller) == "200 012345 6789")
    #expect(store.count == 0)
  }

  @Test func `a beginning takes no place of a whole response`() async throws {
    let scene = HTTPCacheScene { _, number in
      switch number {
      case 1: .ok("max-age=60, stale-if-error=600 | ETag: \"a\"", "0123456789")
      case 2:
        .init(
          fields: "max-age=60 | ETag: \"b\" | Content-Length: 10", body: "ab",
          failure: URLError(.networkConnectionLost))
      default: .unreachable
      }
    }
    _ = try await scene.send()
    scene.at(60)
    _ = try await scene.send()

    #expect(try await scene.send() == "200 age 60 0123456789")
  }

  @Test func `a beginning whose bytes were evicted is fetched as a whole`() async throws {
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 9)
    let scene = scene(store: store) { _, _ in .ok("max-age=60 | ETag: \"a\"", "0123456789") }
    _ = try await scene.send()
    for head in store.now("heads http://origin.test/a", Lookup())?.heads ?? [] {
      #expect(!head.body.isWhole)
      _ = store.remove(head.bodyPlace)
    }

    #expect(try await scene.send() == "200 01234 56789")
    #expect(scene.origin.values(of: "Range") == [nil, nil])
  }

  @Test func `callers of a response that broke off share the request for the rest`() throws {
    let transport = TestTransport()
    let cache = HTTPCache(
      over: transport, in: MemoryCache<String, HTTPCacheRecord>(countLimit: 9))
    let first = Recorder<HTTPPart>().subscribe(to: cache.send(try HTTPCacheScene.request()))
    transport.source.next(.head(HTTPHead(status: 200, headers: CachingRow.fields(Self.fields))))
    transport.source.next(.body(Data("012345".utf8)))
    first.dispose()

    let callers = try (0..<10).map { _ in
      Recorder<HTTPPart>().subscribe(to: cache.send(try HTTPCacheScene.request()))
    }
    transport.source.next(
      .head(
        HTTPHead(
          status: 206, headers: CachingRow.fields("ETag: \"a\" | Content-Range: bytes 6-9/10"))))
    let late = Recorder<HTTPPart>().subscribe(to: cache.send(try HTTPCacheScene.request()))
    transport.source.next(.body(Data("6789".utf8)))
    transport.source.completed()

    #expect(transport.source.subscriptions == 2)
    for caller in callers + [late] {
      #expect(HTTPCacheScene.text(caller) == "200 012345 6789")
    }
  }

  @Test func `a part of the same version makes a whole response fresh again`() async throws {
    let scene = HTTPCacheScene { _, number in
      number == 1
        ? .ok("max-age=60 | ETag: \"a\"", "0123456789")
        : .status(206, "max-age=90 | ETag: \"a\" | Content-Range: bytes 0-1/10", "01")
    }
    _ = try await scene.send()
    scene.at(70)

    #expect(try await scene.send("Range: bytes=0-1") == "206 0 1")
    #expect(try await scene.send() == "200 age 0 0123456789")

    #expect(scene.origin.count == 2)
  }

  @Test(arguments: [
    "ETag: W/\"a\" | Content-Range: bytes 0-1/10", "Content-Range: bytes 0-1/10",
    "ETag: \"a\" | Content-Range: bytes 0-1/11",
  ])
  func `a part that can't be proven to be of the same version makes nothing fresh`(
    fields: String
  ) async throws {
    let scene = HTTPCacheScene { _, number in
      number == 2
        ? .status(206, "max-age=90 | \(fields)", "01")
        : .ok("max-age=60 | ETag: \"a\"", "0123456789")
    }
    _ = try await scene.send()
    scene.at(70)
    _ = try await scene.send("Range: bytes=0-1")

    #expect(try await scene.send() == "200 01234 56789")
    #expect(scene.origin.count == 3)
  }

  @Test func `a part of another resource, to which a redirect led, makes nothing fresh`()
    async throws
  {
    let scene = HTTPCacheScene { _, number in
      number == 2
        ? .init(
          status: 206, fields: "max-age=90 | ETag: \"a\" | Content-Range: bytes 0-1/10", body: "01",
          redirection: Redirection())
        : .ok("max-age=60 | ETag: \"a\"", "0123456789")
    }
    _ = try await scene.send()
    scene.at(70)
    _ = try await scene.send("Range: bytes=0-1")

    #expect(try await scene.send() == "200 01234 56789")
    #expect(scene.origin.count == 3)
  }
}
