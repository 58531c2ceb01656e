import Foundation
import LocalRedis
import Millpond
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondRedis

@Suite(.withServer, .timeLimit(.minutes(1))) struct RedisStatisticsTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  @Test func `they name the server, and count what was carried and refused`() async throws {
    let redis = try scene.client()
    let cache = RedisCache(redis, prefix: "p/")
    #expect(redis.statistics.connections.map(\.state) == [.idle])
    try await cache.tracks()

    let before = redis.statistics
    try await cache.set(Data(count: 1_000), for: "k").value
    #expect(try await cache.get("k").value.count == 1_000)
    try scene.server.command("CONFIG", "SET", "maxmemory", "1")
    await #expect(throws: CacheError.self) { try await cache.set(Data([1]), for: "k").value }

    let after = redis.statistics
    // Valkey has a version of Redis besides.
    let versions = try scene.server.command("INFO", "server").matches(
      of: /(?:redis|valkey)_version:(\S+)/
    ).map(\.1)
    #expect(after.connections.map(\.state) == [.ready])
    #expect(versions.contains { after.connections[0].server?.hasSuffix(" " + $0) == true })
    #expect(after.isTracking)
    #expect(after.answers - before.answers == 3)
    #expect(after.refusals - before.refusals == 1)
    #expect(after.bytesSent - before.bytesSent > 1_000)
    #expect(after.bytesReceived - before.bytesReceived > 1_000)
    #expect(after.waitingTime > before.waitingTime)
    #expect(after.reconnects == 0)
    #expect("\(after)".contains("ready, tracking; 0 reconnects"))
  }

  @Test func `they are in the composition's text for Prometheus, once for each client`()
    async throws
  {
    let redis = try scene.client()
    let cache = RedisCache(redis, prefix: "p/")
    let both = cache.layered(over: RedisCache(redis, prefix: "q/"))
    while !redis.statistics.isTracking { try await redis.ping().value }

    let lines = both.prometheusText.split(separator: "\n")

    let server = "{server=\"127.0.0.1:\(scene.server.port)\"}"
    for (name, value) in [("connections", 1), ("ready", 1), ("tracking", 1)] {
      #expect(lines.count { $0 == "millpond_redis_\(name)\(server) \(value)" } == 1)
    }
    let answers = redis.statistics.answers
    #expect(lines.contains("millpond_redis_answers_total\(server) \(answers)"))
    #expect(both.topology(for: nil).parts[0].server?().line == "\(redis.statistics)")
  }

  @Test func `a lost connection, its pauses with their reason, and the next one are sent`()
    async throws
  {
    let redis = try scene.client()
    let cache = RedisCache(redis, prefix: "p/")
    let sent = Locked<[RedisStatistics]>([])
    let handle = redis.changes.subscribe { event in
      if case .next(let statistics) = event { sent.withLock { $0.append(statistics) } }
    }
    try await cache.tracks()
    scene.server.kill()
    while (try? await cache.found("k")) != nil || redis.statistics.connections[0].failure == nil {
      await Task.yield()
    }
    try scene.server.start()
    try await cache.tracks()
    while sent.withLock({ $0.last?.reconnects }) != 1 { await Task.yield() }

    let states = sent.withLock { $0.map(\.connections[0].state) }
    #expect(states.contains(.pausing))
    #expect(states.last == .ready)
    let pause = try #require(sent.withLock { $0.first { $0.connections[0].state == .pausing } })
    #expect(pause.connections[0].failure != nil)
    #expect(!pause.isTracking)
    #expect(redis.statistics.connections[0].failure == nil)
    handle.dispose()
  }

  @Test func `they end when the client is closed`() async throws {
    let redis = try scene.client()
    _ = try await RedisCache(redis, prefix: "").found("k")
    let changes = redis.changes.collect()
    let (ended, handle) = (Promise<Void>(), Locked<Disposable?>(nil))
    handle.withLock { $0 = changes.subscribe { if $0.isTerminal { ended.end() } } }

    redis.close()

    _ = try await ended.outcome.collect().value
    #expect(redis.statistics.connections.map(\.state) == [.closed])
  }

  @Test func `a refused user is the reason of each pause`() async throws {
    let redis = try Redis(
      .tcp(host: "127.0.0.1", port: scene.server.port), username: "nobody", password: "secret")
    let cache = RedisCache(redis, prefix: "")
    await #expect(throws: CacheError.self) { try await cache.get("k").value }

    let statistics = redis.statistics

    #expect(statistics.connections[0].failure?.serverCode == "WRONGPASS")
    #expect(!"\(statistics)".contains("secret"))
  }
}
