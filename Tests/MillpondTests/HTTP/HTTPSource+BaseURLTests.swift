import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

/// Sources of one API, whose keys are paths, and values in JSON.
@Suite struct HTTPSourceBaseURLTests {
  struct User: Decodable, Equatable {
    let name: String
  }

  @Test(arguments: [
    ("users/7", "https://a.example/v2/users/7"), ("/users/7", "https://a.example/v2/users/7"),
    ("users?page=2", "https://a.example/v2/users?page=2"), ("", "https://a.example/v2/"),
    ("//evil.example/a", "https://a.example/v2/evil.example/a"),
    ("https://evil.example/a", "https://a.example/v2/https://evil.example/a"),
    ("@evil.example", "https://a.example/v2/@evil.example"),
    ("caf\u{E9} 1", "https://a.example/v2/caf%C3%A9%201"), ("a%20b", "https://a.example/v2/a%20b"),
  ])
  func `a key is put behind the base, whatever it looks like`(key: String, url: String) throws {
    for base in ["https://a.example/v2", "https://a.example/v2/", "https://a.example/v2?x=1#y"] {
      let base = try #require(URL(string: base))
      #expect(base.below(key)?.absoluteString == url)
    }
  }

  @Test func `a value is asked for at its path, with the fields, and decoded`() async throws {
    let origin = try LoopbackServer { request in
      request.path == "/api/users/7" && request.headers["X-Tenant"] == "a"
        ? Response(body: Array("{\"name\": \"Ada\"}".utf8)) : Response(status: 404)
    }
    let api = HTTPSource(baseURL: try origin.url("/api"), headers: ["X-Tenant": "a"])
    let users = MemoryCache<String, User>(countLimit: 9).layered(over: api.json(User.self))

    #expect(try await users.get("users/7").value == User(name: "Ada"))
    #expect(users.now("users/7") == User(name: "Ada"))
    let missing = try await Recorder<User>.ended(users.get("users/8"))
    #expect(missing.failure?.isNotFound == true)
    #expect((missing.failure as? TransferError)?.isPermanent == true)
  }

  @Test func `a write above a source of JSON succeeds, and asks it nothing`() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let users = MemoryCache<String, User>(countLimit: 9)
      .layered(over: HTTPSource(baseURL: try origin.url("/")).json(User.self))

    try await users.set(User(name: "Ada"), for: "7").value

    #expect(users.now("7") == User(name: "Ada"))
    #expect(origin.exchanges.isEmpty)
  }

  @Test func `a cache that is read as a source of JSON is given no bytes`() async throws {
    func read(_ source: some Source<String, Data>) -> some Source<String, User> {
      source.json(User.self)
    }
    let bytes = MemoryCache<String, Data>(countLimit: 9)
    bytes.set(Data("{\"name\": \"Ada\"}".utf8), for: "7")
    let users = MemoryCache<String, User>(countLimit: 9).layered(over: read(bytes))

    await #expect(throws: CacheError.self) {
      try await users.set(User(name: "Bob"), for: "7").value
    }
    #expect(bytes.now("7") == nil)
  }

  @Test func `an answer that is no such value fails with its key`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array("[]".utf8)) }
    let users = HTTPSource(baseURL: try origin.url("/")).json(User.self)

    let answer = try await Recorder<User>.ended(users.get("7"))

    guard case CacheError.undecodable("7", let error)? = answer.failure else {
      Issue.record("\(answer.transcript)")
      return
    }
    #expect(error is DecodingError)
  }

  @Test func `what an origin does not have is asked for once in a while`() async throws {
    let origin = try LoopbackServer { _ in Response(status: 404) }
    let users = HTTPSource(baseURL: try origin.url("/")).json(User.self).remembered(
      in: MemoryCache<String, User>(countLimit: 9),
      FreshnessPolicy(failureLife: { $0.isNotFound ? .days(1) : .zero }))

    for _ in 0..<3 {
      #expect(try await Recorder<User>.ended(users.get("7")).failure?.isNotFound == true)
    }
    #expect(origin.exchanges.count == 1)
  }

  @Test(arguments: [200, 403, 404, 410, 500])
  func `not found are 404, 410 and a miss, also in a layer's failure`(code: Int) {
    let error = TransferError.status(code: code, headers: [:])
    let isNotFound = code == 404 || code == 410

    #expect(error.isNotFound == isNotFound)
    #expect(CacheError.unavailable(layer: "api", underlying: error).isNotFound == isNotFound)
    #expect(CacheError.miss.isNotFound)
  }
}
