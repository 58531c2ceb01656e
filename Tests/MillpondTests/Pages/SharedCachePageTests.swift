import Foundation
import Millpond
import MillpondRedis
import Testing

/// The code of the page about a cache that processes share; its promises are tested beside
/// `MillpondRedis`.
@Suite struct SharedCachePageTests {
  struct Person: Codable, Sendable {
    var name: String
  }

  // snippet
  func people(_ api: some Source<String, Person>) throws -> some Cache<String, Person> {
    let redis = try Redis(.tcp(host: "127.0.0.1"))
    let shared = RedisCache(redis, prefix: "person/", timeToLive: .minutes(10))
    return MemoryCache<String, Person>(countLimit: 10_000)
      .following(shared)
      .layered(over: shared.mapValues(.json(Person.self)).layered(over: api))
      .reusingInFlight()
  }
  // end

  // snippet
  func numbered(_ shared: RedisCache) -> some Cache<Int, Data> {
    MemoryCache<Int, Data>(countLimit: 10_000)
      .following(shared) { Int($0.dropFirst(3)) }
      .layered(over: shared.mapKeys { "id/\($0)" })
  }
  // end

  // snippet
  func leased(
    _ shared: RedisCache, _ api: some Source<String, Data>
  ) -> some Cache<String, Data> {
    MemoryCache<String, Data>(countLimit: 10_000)
      .following(shared)
      .layered(over: shared.layered(over: api, leasing: shared, for: .seconds(5)))
      .reusingInFlight()
  }
  // end

  // snippet
  func report(_ cache: RedisCache) async -> String {
    do {
      try await cache.set(Data("1".utf8), for: "probe").value
      return "works"
    } catch CacheError.unavailable(_, let reason as RedisError) {
      return reason.serverCode ?? "\(reason)"  // "OOM"
    } catch {
      return "\(error)"
    }
  }
  // end

  // snippet
  func failingOver(_ hosts: [String]) throws -> RedisCache {
    let sentinels = hosts.map { RedisAddress.tcp(host: $0, port: 26379) }
    return RedisCache(try Redis(.sentinels(sentinels, service: "mymaster")), prefix: "feed/")
  }
  // end

  // snippet
  func clustered(_ hosts: [String]) throws -> RedisCache {
    let servers = hosts.map { RedisAddress.tcp(host: $0, port: 6379) }
    return RedisCache(try Redis(.cluster(servers)), prefix: "feed/")
  }
  // end

  // snippet
  func logging(_ redis: Redis) -> Disposable {
    redis.changes.subscribe { event in
      if case .next(let statistics) = event { print(statistics) }
    }
  }
  // end

  /// Without a server, the layers below answer.
  @Test func `the compositions answer without a server too`() async throws {
    let nowhere = RedisCache(try Redis(.unix(path: "/nowhere/at-all")), prefix: "p/")
    let api = FunctionSource<String, Data>.signal { _ in .just(Data([1])) }

    #expect(try await leased(nowhere, api).get("k").value == Data([1]))
    #expect(await report(nowhere) != "works")
    await #expect(throws: CacheError.self) { try await numbered(nowhere).get(1).value }
  }
}
