import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct HTTPCacheTests {
  // MARK: Hits

  @Test func `a fresh response is the answer without a request, and states its age`() async throws {
    let scene = HTTPCacheScene { _, _ in .ok("max-age=60") }

    #expect(try await scene.send() == "200 bo dy")
    scene.at(59)
    #expect(try await scene.send() == "200 age 59 body")

    #expect(scene.origin.count == 1)
    #expect(
      scene.newReasons() == [.nothingStored, .statedFreshness, .fresh])
  }

  @Test func `a stale response is validated, and a 304 makes it fresh again`() async throws {
    let scene = HTTPCacheScene { _, number in
      number == 1 ? .ok("max-age=60 | ETag: \"a\" | X: old") : .status(304, "max-age=90 | X: new")
    }
    _ = try await scene.send()

    scene.at(100)
    #expect(try await scene.send() == "200 age 0 body")
    scene.at(189)
    #expect(try await scene.send() == "200 age 89 body")

    #expect(scene.origin.values(of: "If-None-Match") == [nil, "\"a\""])
    #expect(
      scene.newReasons().suffix(3) == [.stale, .confirmed, .fresh])
  }

  @Test func `a newer answer to a validation replaces what is stored`() async throws {
    let scene = HTTPCacheScene { _, number in .ok("max-age=60 | ETag: \"\(number)\"", "\(number)0")
    }
    _ = try await scene.send()

    scene.at(60)
    #expect(try await scene.send() == "200 2 0")
    #expect(try await scene.send() == "200 age 0 20")

    #expect(scene.origin.count == 2)
  }

  @Test func `a response without a validator is fetched anew once it is stale`() async throws {
    let scene = HTTPCacheScene { _, number in .ok("max-age=60", "\(number)0") }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send() == "200 2 0")
    #expect(scene.origin.values(of: "If-None-Match") == [nil, nil])
  }

  @Test(arguments: ["no-store", "max-age=60 | Vary: *"])
  func `a response that must not be stored is not`(fields: String) async throws {
    let scene = HTTPCacheScene { _, _ in .ok(fields) }

    for _ in 0..<2 { #expect(try await scene.send() == "200 bo dy") }

    #expect(scene.origin.count == 2)
  }

  @Test(arguments: [true, false])
  func `an answer that came by a redirect is not stored`(leftOrigin: Bool) async throws {
    let scene = HTTPCacheScene { _, _ in
      .init(
        fields: "max-age=60", body: "body",
        redirection: Redirection(leftOrigin: leftOrigin))
    }

    for _ in 0..<2 { _ = try await scene.send() }

    #expect(scene.origin.count == 2)
  }

  @Test(arguments: ["Content-Length: 5", "Content-Length: 3", "Content-Length: x"])
  func `a body of another length than its head states is not stored`(fields: String) async throws {
    let scene = HTTPCacheScene { _, _ in .ok("max-age=60 | \(fields)") }

    for _ in 0..<2 { #expect(try await scene.send() == "200 bo dy") }

    #expect(scene.origin.count == 2)
  }

  @Test func `a body that breaks off is not stored`() async throws {
    let scene = HTTPCacheScene { _, number in
      .init(
        fields: "max-age=60", body: "body", failure: number == 1 ? URLError(.timedOut) : nil)
    }

    _ = try await scene.send()
    #expect(try await scene.send() == "200 bo dy")

    #expect(scene.origin.count == 2)
  }

  @Test(arguments: ["max-age=60", "max-age=60 | Content-Length: 10"])
  func `a body beyond the limit is passed on and not stored`(fields: String) async throws {
    let scene = HTTPCacheScene(byteLimit: 9) { _, _ in .ok(fields, "0123456789") }

    for _ in 0..<2 { #expect(try await scene.send() == "200 01234 56789") }

    #expect(scene.origin.count == 2)
  }

  @Test func `a head that is too large is passed on and not stored`() async throws {
    let long = String(repeating: "x", count: 65 << 10)
    let scene = HTTPCacheScene { _, _ in .ok("max-age=60 | X: \(long)") }

    for _ in 0..<2 { #expect(try await scene.send() == "200 bo dy") }

    #expect(scene.origin.count == 2)
    #expect(scene.newReasons().last == .tooLarge)
  }

  @Test func `an empty body is stored`() async throws {
    let scene = HTTPCacheScene { _, _ in .status(204, "max-age=60") }

    for _ in 0..<2 { _ = try await scene.send() }

    #expect(scene.origin.count == 1)
  }

  @Test func `a body that was evicted is fetched again, as a whole`() async throws {
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let scene = HTTPCacheScene(store: store) { _, _ in .ok("max-age=60 | ETag: \"a\"") }
    _ = try await scene.send()
    let heads = try #require(store.now("heads http://origin.test/a", Lookup())?.heads)
    for head in heads { _ = store.remove(head.bodyPlace) }

    #expect(try await scene.send() == "200 bo dy")
    #expect(try await scene.send("only-if-cached") == "200 age 0 body")

    #expect(scene.origin.values(of: "If-None-Match") == [nil, nil])
  }

  @Test func `a body of another length in the store is none`() async throws {
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let scene = HTTPCacheScene(store: store) { _, _ in .ok("max-age=60") }
    _ = try await scene.send()
    let heads = try #require(store.now("heads http://origin.test/a", Lookup())?.heads)
    for head in heads { _ = store.set(HTTPCacheRecord(.body(Data([1]))), for: head.bodyPlace) }

    #expect(try await scene.send() == "200 bo dy")
    #expect(scene.origin.count == 2)
  }

  @Test func `a body that was evicted is no answer for a request that accepts only what is stored`()
    async throws
  {
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let scene = HTTPCacheScene(store: store) { _, _ in .ok("max-age=60") }
    _ = try await scene.send()
    for head in store.now("heads http://origin.test/a", Lookup())?.heads ?? [] {
      _ = store.remove(head.bodyPlace)
    }

    #expect(try await scene.send("only-if-cached") == "504")
    #expect(scene.origin.count == 1)
  }

  @Test func `a body that is missing at its confirmation is fetched`() async throws {
    let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)
    let scene = HTTPCacheScene(store: store) { request, _ in
      request.headers["If-None-Match"] == nil
        ? .ok("max-age=60 | ETag: \"a\"") : .status(304, "ETag: \"a\"")
    }
    _ = try await scene.send()
    for head in store.now("heads http://origin.test/a", Lookup())?.heads ?? [] {
      _ = store.remove(head.bodyPlace)
    }

    scene.at(60)
    #expect(try await scene.send() == "200 bo dy")
    #expect(scene.origin.count == 3)
  }

  @Test func `the refusal to ask the origin is a 504`() async throws {
    let scene = HTTPCacheScene { _, _ in .ok("max-age=60") }

    #expect(try await scene.send("only-if-cached") == "504")
    #expect(scene.origin.count == 0)
  }

  @Test func `the decision about a request can be asked for, and nothing is sent`() async throws {
    let scene = HTTPCacheScene { _, _ in .ok("max-age=60 | ETag: \"a\"") }
    _ = try await scene.send()
    scene.at(90)

    let decision = try await scene.cache.decision(for: HTTPCacheScene.request()).value

    #expect("\(decision)" == "validate: it is stale (RFC 9111 §4.2)")
    #expect(scene.origin.count == 1)
  }

  // MARK: Variants, ranges and conditions

  @Test func `variants are stored side by side`() async throws {
    let scene = HTTPCacheScene { request, _ in
      .ok("max-age=60 | Vary: Accept-Language", request.headers["Accept-Language"] ?? "none")
    }
    let requests = ["Accept-Language: en", "Accept-Language: de", ""]
    for request in requests { _ = try await scene.send(request) }

    #expect(try await scene.send(requests[0]) == "200 age 0 en")
    #expect(try await scene.send(requests[1]) == "200 age 0 de")
    #expect(try await scene.send(requests[2]) == "200 age 0 none")
    #expect(scene.origin.count == 3)
  }

  @Test func `of very many variants the oldest are dropped`() async throws {
    let scene = HTTPCacheScene { request, _ in .ok("max-age=60 | Vary: X") }
    for number in 0...16 { _ = try await scene.send("X: \(number)") }

    _ = try await scene.send("X: 16")
    _ = try await scene.send("X: 1")
    #expect(scene.origin.count == 17)
    _ = try await scene.send("X: 0")
    #expect(scene.origin.count == 18)
  }

  @Test func `credentials keep stored responses apart`() async throws {
    let scene = HTTPCacheScene { request, _ in
      .ok("max-age=60", request.headers["Authorization"] ?? "none")
    }
    for user in ["Authorization: a", "Authorization: b", ""] { _ = try await scene.send(user) }

    #expect(try await scene.send("Authorization: b") == "200 age 0 b")
    #expect(try await scene.send() == "200 age 0 none")
    #expect(scene.origin.count == 3)
  }

  @Test func `ranges are cut out of what is stored`() async throws {
    let scene = HTTPCacheScene { _, _ in .ok("max-age=60 | ETag: \"a\"", "0123456789") }
    _ = try await scene.send()

    #expect(try await scene.send("Range: bytes=2-4") == "206 age 0 234")
    #expect(try await scene.send("Range: bytes=-2") == "206 age 0 89")
    #expect(try await scene.send("Range: bytes=10-") == "416 age 0")
    #expect(try await scene.send("Range: bytes=2-4 | If-Range: \"b\"") == "200 age 0 0123456789")
    #expect(try await scene.send("If-None-Match: \"a\"") == "304 age 0")
    #expect(scene.origin.count == 1)
  }

  @Test func `a range that is not stored is passed on, and its answer is not stored`() async throws
  {
    let scene = HTTPCacheScene { _, _ in
      .status(206, "max-age=60 | ETag: \"a\" | Content-Range: bytes 0-1/10", "01")
    }

    for _ in 0..<2 { #expect(try await scene.send("Range: bytes=0-1") == "206 0 1") }

    #expect(scene.origin.count == 2)
  }

  @Test func `a range of a stale response is validated, and cut out of what is stored`()
    async throws
  {
    let scene = HTTPCacheScene { _, number in
      number == 1
        ? .ok("max-age=60 | ETag: \"a\"", "0123456789") : .status(304, "max-age=90 | ETag: \"a\"")
    }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send("Range: bytes=2-4") == "206 age 0 234")
    #expect(try await scene.send() == "200 age 0 0123456789")

    #expect(scene.origin.values(of: "If-None-Match") == [nil, "\"a\""])
    #expect(scene.origin.values(of: "Range") == [nil, "bytes=2-4"])
  }

  @Test func `a whole answer to a range of a stale response replaces what is stored`() async throws
  {
    let scene = HTTPCacheScene { _, number in .ok("max-age=60 | ETag: \"\(number)\"", "\(number)0")
    }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send("Range: bytes=0-0") == "200 2 0")
    #expect(try await scene.send() == "200 age 0 20")
  }

  @Test func `a range of a stale response stands in for an error if its origin allows it`()
    async throws
  {
    let scene = HTTPCacheScene { _, number in
      number == 1
        ? .ok("max-age=60, stale-if-error=60 | ETag: \"a\"", "0123456789") : .unreachable
    }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send("Range: bytes=2-4") == "206 age 60 234")
  }

  @Test func `a part of another version drops what is stored`() async throws {
    let scene = HTTPCacheScene { _, number in
      number == 2
        ? .status(206, "ETag: \"b\" | Content-Range: bytes 0-1/10", "01")
        : .ok("max-age=60 | ETag: \"a\"", "0123456789")
    }
    _ = try await scene.send()

    _ = try await scene.send("Range: bytes=0-1 | no-cache")
    _ = try await scene.send()

    #expect(scene.origin.count == 3)
  }

  // MARK: Methods

  @Test(arguments: [("POST", 201, true), ("DELETE", 204, true), ("POST", 500, false)])
  func `a request that changes something makes what is stored invalid, if it succeeds`(
    method: String, status: Int, isInvalid: Bool
  ) async throws {
    let scene = HTTPCacheScene { request, _ in
      request.method == .get
        ? .ok("max-age=60", request.url.path()) : .status(status, "max-age=60 | Location: /b")
    }
    for path in ["/a", "/b", "/c"] { _ = try await scene.send(path: path) }
    let change = HTTPRequest(url: try HTTPCacheScene.request().url, method: HTTPMethod(method))

    for _ in 0..<2 {
      #expect(try await HTTPCacheScene.answer(scene.cache.send(change)) == "\(status)")
    }

    #expect(scene.origin.count == 5)
    #expect(
      try await scene.send("only-if-cached", path: "/a") == (isInvalid ? "504" : "200 age 0 /a"))
    #expect(
      try await scene.send("only-if-cached", path: "/b") == (isInvalid ? "504" : "200 age 0 /b"))
    #expect(try await scene.send("only-if-cached", path: "/c") == "200 age 0 /c")
  }

  @Test(arguments: [
    ("PROPFIND", "200 age 0 body"), ("TRACE", "200 age 0 body"), ("POST", "504"),
  ])
  func `only a request that may change something makes what is stored invalid`(
    method: String, stored: String
  ) async throws {
    let scene = HTTPCacheScene { request, _ in
      request.method == .get ? .ok("max-age=60") : .status(207)
    }
    _ = try await scene.send()
    let request = HTTPRequest(url: try HTTPCacheScene.request().url, method: HTTPMethod(method))

    #expect(try await HTTPCacheScene.answer(scene.cache.send(request)) == "207")

    #expect(try await scene.send("only-if-cached") == stored)
  }

  @Test func `an answer to another method makes nothing fresh`() async throws {
    let scene = HTTPCacheScene { request, _ in
      request.method == .get
        ? .ok("max-age=60 | ETag: \"a\"") : .status(304, "max-age=60 | ETag: \"a\"")
    }
    _ = try await scene.send()
    scene.at(60)

    let options = HTTPRequest(url: try HTTPCacheScene.request().url, method: "OPTIONS")
    _ = try await HTTPCacheScene.answer(scene.cache.send(options))

    #expect(try await scene.send("only-if-cached") == "504")
  }

  @Test(arguments: [("ETag: \"a\"", "200 age 0 body"), ("ETag: \"b\"", "504")])
  func `an answer to HEAD makes what is stored fresh again, or shows that it has changed`(
    fields: String, answer: String
  ) async throws {
    let scene = HTTPCacheScene { request, _ in
      request.method == .head
        ? .status(200, "max-age=60 | \(fields)") : .ok("max-age=60 | ETag: \"a\"")
    }
    _ = try await scene.send()
    scene.at(60)

    let head = HTTPRequest(url: try HTTPCacheScene.request().url, method: .head)
    #expect(try await HTTPCacheScene.answer(scene.cache.send(head)) == "200")

    #expect(try await scene.send("only-if-cached") == answer)
  }

  // MARK: Failures

  @Test(arguments: [true, false])
  func `a stale response stands in for an error if its origin allows it`(
    isReached: Bool
  ) async throws {
    let scene = HTTPCacheScene { _, number in
      if number == 1 { return .ok("max-age=60, stale-if-error=60") }
      return isReached ? .status(503, "", "down") : .unreachable
    }
    _ = try await scene.send()

    scene.at(120)
    #expect(try await scene.send() == "200 age 120 body")
    scene.at(121)
    #expect(try await scene.send() != "200 age 121 body")

    #expect(scene.newReasons().contains(.staleIfError))
  }

  @Test func `an error that is not stored does not remove what is`() async throws {
    let scene = HTTPCacheScene { _, number in
      number == 2 ? .status(500) : .ok("max-age=60 | ETag: \"a\"", "\(number)0")
    }
    _ = try await scene.send()
    scene.at(60)
    #expect(try await scene.send() == "500")

    #expect(try await scene.send("max-stale") == "200 age 60 10")
  }

  // MARK: Origins that lie

  @Test func `a 304 without a conditional request is passed on`() async throws {
    let scene = HTTPCacheScene { _, number in number == 1 ? .ok("max-age=60") : .status(304) }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send() == "304")
  }

  @Test func `a 304 to a condition of the caller confirms nothing that it does not name`()
    async throws
  {
    let scene = HTTPCacheScene { _, number in
      switch number {
      case 1: .ok("max-age=60 | ETag: \"a\"")
      case 2: .status(304, "max-age=60")
      default: .ok("max-age=60 | ETag: \"b\"", "new")
      }
    }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send("If-None-Match: \"b\"") == "304")
    #expect(try await scene.send() == "200 n ew")
  }

  @Test func `an answer to a condition of the caller is not stored`() async throws {
    let scene = HTTPCacheScene { request, _ in
      request.headers["If-Match"] == nil ? .ok("no-store") : .status(412, "max-age=60")
    }

    #expect(try await scene.send("If-Match: \"x\"") == "412")
    #expect(try await scene.send() == "200 bo dy")
  }

  @Test func `a 304 of another version leads to one request without conditions`() async throws {
    let scene = HTTPCacheScene { _, number in
      switch number {
      case 1: .ok("max-age=60 | ETag: \"a\"")
      case 2: .status(304, "ETag: \"b\"")
      default: .ok("max-age=60 | ETag: \"b\"", "new!")
      }
    }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send() == "200 ne w!")
    #expect(scene.origin.values(of: "If-None-Match") == [nil, "\"a\"", nil])
  }

  @Test func `a 304 of another resource, to which a redirect led, confirms nothing`() async throws {
    let scene = HTTPCacheScene { request, _ in
      request.headers["If-None-Match"] == nil
        ? .ok("max-age=60 | ETag: \"a\"", "\(request.method)")
        : .init(status: 304, fields: "ETag: \"a\"", redirection: Redirection())
    }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send() == "200 G ET")
    #expect(scene.origin.values(of: "If-None-Match") == [nil, "\"a\"", nil])
  }

  @Test func `an answer to HEAD of another resource makes nothing fresh`() async throws {
    let scene = HTTPCacheScene { request, _ in
      request.method == .head
        ? .init(fields: "max-age=60 | ETag: \"a\"", redirection: Redirection())
        : .ok("max-age=60 | ETag: \"a\"")
    }
    _ = try await scene.send()
    scene.at(60)

    let head = HTTPRequest(url: try HTTPCacheScene.request().url, method: .head)
    _ = try await HTTPCacheScene.answer(scene.cache.send(head))

    #expect(try await scene.send("only-if-cached") == "504")
  }

  @Test func `an origin that always says 304 is asked twice, not for ever`() async throws {
    let scene = HTTPCacheScene { _, number in
      number == 1 ? .ok("max-age=60 | ETag: \"a\"") : .status(304, "ETag: \"b\"")
    }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send() == "304")
    #expect(scene.origin.count == 3)
  }

  @Test func `a 304 that forbids storing answers once, and removes what is stored`() async throws {
    let scene = HTTPCacheScene { _, number in
      number == 2 ? .status(304, "no-store") : .ok("max-age=60 | ETag: \"a\"")
    }
    _ = try await scene.send()
    scene.at(60)

    #expect(try await scene.send() == "200 age 0 body")
    #expect(try await scene.send("max-stale") == "200 bo dy")
  }

  @Test func `a 206 without a range request is no answer to a request for the whole`() async throws
  {
    let scene = HTTPCacheScene { _, _ in
      .status(206, "max-age=60 | Content-Range: bytes 0-1/10", "01")
    }
    let source = HTTPSource<URL>(transport: scene.cache)
    let url = try HTTPCacheScene.request().url

    let recorder = try await Recorder.outcome(of: source, url)

    #expect(recorder.failureInWords == "status 206")
    #expect(try await scene.send() == "206 0 1")
  }
}
