import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import TestTraits
import Testing

@Suite(.withServer) struct RedisCacheTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  @Test(arguments: [1, 3]) func `what is set is found until it is removed`(connections: Int)
    async throws
  {
    let cache = try scene.cache("a/", connections: connections)

    cache.set(Data("one".utf8), for: "x")
    #expect(try await cache.found("x") == Data("one".utf8))
    cache.set(Data("two".utf8), for: "x")
    #expect(try await cache.found("x") == Data("two".utf8))
    cache.remove("x")
    #expect(try await cache.found("x") == nil)
  }

  @Test func `another client finds it when the outcome succeeds, under the prefix`() async throws {
    try await scene.cache("a/").set(Data("one".utf8), for: "x").value

    #expect(try await scene.cache("a/").found("x") == Data("one".utf8))
    #expect(try await scene.cache("b/").found("a/x") == nil)
    #expect(try scene.server.command("KEYS", "*") == "a/x")
  }

  @Test func `a Unix socket, a database and a password serve as well`() async throws {
    try scene.server.command("CONFIG", "SET", "requirepass", "secret")
    let redis = try Redis(.unix(path: scene.server.socketPath), password: "secret", database: 3)
    let cache = RedisCache(redis, prefix: "p/")
    try await cache.set(Data([1, 2]), for: "k").value

    #expect(try await cache.found("k") == Data([1, 2]))
    #expect(
      try scene.server.command("-a", "secret", "--no-auth-warning", "-n", "3", "KEYS", "*") == "p/k"
    )
  }

  @Test func `a wrong password fails every get with the server's reason`() async throws {
    try scene.server.command("CONFIG", "SET", "requirepass", "secret")
    let redis = try Redis(.tcp(host: "127.0.0.1", port: scene.server.port), password: "wrong")

    await #expect { try await RedisCache(redis, prefix: "").get("k").value } throws: { error in
      guard case CacheError.unavailable(_, let reason as RedisError) = error else { return false }
      return reason.serverCode == "WRONGPASS"
    }
  }

  @Test func `another user than the default one is named to the server`() async throws {
    try scene.server.command("ACL", "SETUSER", "anna", "on", ">word", "~*", "+@all")
    try scene.server.command("CONFIG", "SET", "requirepass", "secret")
    let redis = try Redis(
      .tcp(host: "127.0.0.1", port: scene.server.port), username: "anna", password: "word")

    #expect(try await RedisCache(redis, prefix: "").found("k") == nil)
  }

  @Test func `a host is found by name`() async throws {
    let redis = try Redis(.tcp(host: "localhost", port: scene.server.port))

    #expect(try await RedisCache(redis, prefix: "").found("k") == nil)
  }

  @Test func `a value has the time to live of the cache or its own`() async throws {
    let cache = try scene.cache(timeToLive: .after(.seconds(100)))
    cache.set(Data(), for: "a")
    cache.set(Data(), for: "b", timeToLive: .after(.seconds(1_000)))
    cache.set(Data(), for: "c", timeToLive: .forever)
    cache.set(Data(), for: "d")
    cache.set(Data(), for: "d", timeToLive: .after(.zero))

    for (key, range) in [("a", 80...100), ("b", 980...1_000)] {
      let life = try #require(Int(scene.server.command("PTTL", key)))
      #expect(range.contains(life / 1_000))
      let own = try await cache.getStamped(key, Lookup()).value.timeToLive
      guard case .after(let passedOn) = own else { continue }
      #expect(range.contains(Int(passedOn.components.seconds)))
    }
    #expect(try scene.server.command("PTTL", "c") == "-1")
    #expect(try await cache.contains("d").value == false)
    #expect(try await cache.contains("c").value)
  }

  @Test func `age and validator come back with the value`() async throws {
    let cache = try scene.cache()
    let stamped = Stamped(
      Data("v".utf8), age: .seconds(60),
      validator: Validator(entityTag: "\"é1\"", lastModified: "Mon"))
    try await cache.apply(.set("k", stamped, .next())).value

    let found = try await cache.getStamped("k", Lookup()).value

    #expect(found.value == Data("v".utf8))
    #expect(found.value.startIndex == 0)
    #expect(found.validator == stamped.validator)
    #expect(found.age >= .seconds(60) && found.age < .seconds(600))
    #expect(try await cache.get("k", freshness: .atMost(.seconds(50))).collect().value.isEmpty)
    #expect(try await cache.get("k", freshness: .reload).collect().value.isEmpty)
  }

  @Test func `the plain form is what other programs write and read`() async throws {
    let cache = try scene.cache("p:", form: .plain)
    try await cache.set(Data("mine".utf8), for: "a").value
    try scene.server.command("SET", "p:b", "theirs")
    try scene.server.command("SET", "q:b", "theirs")

    #expect(try scene.server.command("GET", "p:a") == "mine")
    #expect(try await cache.found("b") == Data("theirs".utf8))
    #expect(try await scene.cache("q:").found("b") == nil)
  }

  @Test func `a value is set only where there is none`() async throws {
    let cache = try scene.cache()

    #expect(try await cache.setIfAbsent(Data([1]), for: "k").value)
    #expect(try await cache.setIfAbsent(Data([2]), for: "k").value == false)
    #expect(try await cache.found("k") == Data([1]))
  }

  @Test(arguments: [1, 3]) func `many keys are got with one command each connection`(
    connections: Int
  ) async throws {
    let cache = try scene.cache("m/", connections: connections)
    try await cache.set(all: ["a": Data([1]), "b": Data([2])]).value
    try scene.server.command("CONFIG", "RESETSTAT")

    let values = try await cache.values(of: ["a", "b", "c", "a"]).value

    #expect(values == ["a": Data([1]), "b": Data([2])])
    let calls = try scene.server.command("INFO", "commandstats")
    #expect(!calls.contains("cmdstat_get:"))
    let bulk = cache.bulk.batching(window: .zero, max: 3)
    async let first = bulk.get("a").value
    async let second = bulk.get("b").value
    #expect(try await [first, second] == [Data([1]), Data([2])])
  }

  @Test func `many keys are got in commands of bounded length`() async throws {
    let cache = try scene.cache()
    let all = Dictionary(uniqueKeysWithValues: (0..<1_200).map { ("\($0)", Data([UInt8($0 % 9)])) })
    try await cache.set(all: all).value
    try scene.server.command("CONFIG", "RESETSTAT")

    #expect(try await cache.values(of: Array(all.keys)).value == all)
    #expect(try scene.server.command("INFO", "commandstats").contains("cmdstat_mget:calls=3,"))
  }

  @Test func `a value of the wrong type fails, and the layer below answers`() async throws {
    try scene.server.command("LPUSH", "k", "1")
    let cache = try scene.cache()
    let origin = FunctionSource<String, Data>.signal { _ in .just(Data([7])) }

    await #expect(throws: CacheError.self) { try await cache.get("k").value }
    #expect(try await cache.layered(over: origin).get("k").value == Data([7]))
  }

  @Test func `a large value passes in both directions`() async throws {
    let cache = try scene.cache()
    let value = (0..<2_000).reduce(into: Data()) { value, number in
      value += Data(repeating: UInt8(truncatingIfNeeded: number), count: 10_000)
    }
    try await cache.set(value, for: "k").value

    #expect(try await cache.found("k") == value)
  }

  @Test func `thousands of gets and sets of many tasks are answered each with its own`()
    async throws
  {
    let cache = try scene.cache(connections: 2)

    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            let (key, value) = ("\(task).\(number % 50)", Data("\(task).\(number)".utf8))
            cache.set(value, for: key)
            guard let found = try? await cache.get(key).value, found == value else { return false }
          }
          return true
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
