import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import Testing

/// Users of the server, and what they need.
@Suite(.withServer, .timeLimit(.minutes(1))) struct AccessRulesTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  /// The commands that the article names.
  private static func named() throws -> Set<String> {
    let article = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/Millpond/Millpond.docc/SharedCache.md")
    let rule = try #require(
      String(contentsOf: article, encoding: .utf8).split(separator: "\n").first {
        $0.hasPrefix("- **Access rules.**")
      })
    let quoted = rule.split(separator: "`", omittingEmptySubsequences: false)
    return Set(quoted.indices.filter { $0 % 2 == 1 }.map { String(quoted[$0]) })
      .subtracting(["lease:"])
  }

  @Test func `the commands that the article names are those that are used`() async throws {
    try scene.server.command(
      ["ACL", "SETUSER", "cache", "on", "nopass", "~p/*", "~lease:p/*"]
        + Self.named().map { "+" + $0.lowercased().replacingOccurrences(of: " ", with: "|") })
    try scene.server.command("CONFIG", "RESETSTAT")

    for tracking in [RedisTracking.byPrefix, .byKey] { try await useEverything(tracking) }

    let used = try scene.server.command("INFO", "commandstats").split(whereSeparator: \.isNewline)
      .compactMap { $0.split(separator: ":").first }.filter { $0.hasPrefix("cmdstat_") }
      .map { $0.dropFirst(8).uppercased().replacingOccurrences(of: "|", with: " ") }
    // What the tests send by the server's own client, and what needs no rule.
    let others = Set(["CONFIG RESETSTAT", "COMMAND", "COMMAND DOCS", "HELLO", "ACL LOG"])
    #expect(Set(used).subtracting(others) == (try Self.named()))
    #expect(try scene.server.command("ACL", "LOG") == "")
  }

  private func useEverything(_ tracking: RedisTracking) async throws {
    let redis = try Redis(
      .tcp(host: "127.0.0.1", port: scene.server.port), username: "cache", database: 1,
      deadline: .seconds(30), tracking: tracking)
    let shared = RedisCache(redis, prefix: "p/")
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let origin = FunctionSource<String, Data>.signal { key in
      key == "none" ? .empty : .just(Data(key.utf8))
    }
    let cache = memory.following(shared).layered(
      over: shared.layered(over: origin, leasing: shared))
    try await shared.tracks()
    // Long and short values, over nothing and over a value.
    let long = String(repeating: "k", count: 400)
    for key in ["k", long] {
      for freshness in [Freshness.any, .reload] {
        _ = try await cache.get(key, freshness: freshness).value
        try await shared.redisReports()
      }
    }
    #expect(try await cache.found("none") == nil)
    try await cache.remove("none").value
    try await cache.set(Data([1]), for: "a").value
    #expect(try await shared.contains("a").value)
    #expect(try await shared.setIfAbsent(Data(), for: "b").value)
    #expect(try await shared.values(of: ["a", "b"]).value.count == 2)
    // So that the next connection ends this one.
    try scene.server.command("CLIENT", "KILL", "TYPE", "NORMAL")
    while (try? await shared.found("a")) != Data([1]) {}
    try await shared.tracks()
    try await cache.removeAll().value
    redis.close()
  }

  /// It may read and remove, but not set.
  @Test func `a user without a password is logged in`() async throws {
    try scene.server.command("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@all", "-set")
    let redis = try Redis(.tcp(host: "127.0.0.1", port: scene.server.port), username: "reader")
    let cache = RedisCache(redis, prefix: "p/")

    #expect(try await cache.found("k") == nil)
    await #expect {
      try await cache.set(Data(), for: "k").value
    } throws: { error in
      ((error as? CacheError)?.underlying as? RedisError)?.serverCode == "NOPERM"
    }
  }

  @Test func `each get that a missing password has cost says so`() async throws {
    let scene = try RedisScene(["--requirepass", "secret"])
    let cache = try scene.cache()

    for _ in 0..<20 {
      await #expect {
        try await cache.get("k").value
      } throws: { error in
        ((error as? CacheError)?.underlying as? RedisError)?.serverCode == "NOAUTH"
          && "\(error)".contains("NOAUTH")
      }
    }
  }
}
