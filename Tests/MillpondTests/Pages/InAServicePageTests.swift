import Foundation
import LocalRedis
import LoopbackServer
import Millpond
import MillpondRedis
import MillpondTesting
import Testing

/// The code of the page about a service; its routes need packages of others, and were run in one with
/// those.
@Suite(.timeLimit(.minutes(3))) struct InAServicePageTests {
  // snippet
  /// The products of a slow upstream, in memory and in a Redis that all processes share.
  struct Catalog: Sendable {
    let products: AnyCache<String, Data>
    let redis: Redis
    let monitor = CacheMonitor()

    init(upstream: URL, redis: Redis, freshFor: TimeToLive = .seconds(30)) {
      let origin = HTTPSource(
        baseURL: upstream, limits: HTTPLimits(totalTimeout: .seconds(3), byteLimit: .mebibytes(1))
      )
      .named("upstream")
      .rateLimited(to: 50, per: .seconds(1), burst: 100, maxWaiting: 500)
      .circuitBreaking(afterFailures: 5, for: .seconds(10)) { $0.isTransient }
      .stoppable()
      let shared = RedisCache(redis, prefix: "product/", timeToLive: .days(1))
      let stored = MemoryCache<String, Data>(costLimit: .mebibytes(64), cost: \.count)
        .named("memory")
        .following(shared)
        .layered(over: shared.named("redis"))
      let fetched = shared.named("lease").layered(over: origin, leasing: shared, for: .seconds(3))
      let policy = FreshnessPolicy(
        freshFor: freshFor, usableFor: .days(1), stale: .atOnce, jitter: 0.1,
        failureLife: { $0.isNotFound ? .seconds(20) : .zero })
      products = AnyCache(fetched.remembered(in: stored, policy).monitored(by: monitor))
      self.redis = redis
    }
  }
  // end

  /// An upstream whose answers count the requests.
  static func upstream() throws -> LoopbackServer {
    let versions = Watched([String: Int]())
    return try LoopbackServer { request in
      if request.path.contains("missing") { return Response(status: 404) }
      let version = versions.change { counts -> Int in
        counts[request.path, default: 0] += 1
        return counts[request.path] ?? 0
      }
      return Response(body: Array("\(version)".utf8))
    }
  }

  static func catalog(
    _ upstream: LoopbackServer, _ server: LocalRedis, freshFor: TimeToLive = .seconds(30)
  ) throws -> Catalog {
    let redis = try Redis(.tcp(host: "127.0.0.1", port: server.port), deadline: .seconds(10))
    return Catalog(upstream: try upstream.url("/"), redis: redis, freshFor: freshFor)
  }

  static func version(of key: String, in catalog: Catalog) async throws -> String {
    String(decoding: try await catalog.products.get(key).value, as: UTF8.self)
  }

  static let isInstalled = LocalRedis.program != nil

  @Test(.enabled(if: isInstalled)) func `two processes make one fetch of many gets`() async throws {
    let (upstream, server) = (try Self.upstream(), try LocalRedis())
    let catalogs = try (0..<2).map { _ in try Self.catalog(upstream, server) }

    let gets = (0..<100).map { catalogs[$0 % 2].products.get("a") }
    #expect(try await zip(gets).value == Array(repeating: Data("1".utf8), count: 100))
    #expect(upstream.exchanges.count == 1)
  }

  @Test(.enabled(if: isInstalled)) func `a stale value is the answer, and a new one is fetched`()
    async throws
  {
    let (upstream, server) = (try Self.upstream(), try LocalRedis())
    let catalog = try Self.catalog(upstream, server, freshFor: .after(.zero))

    #expect(try await Self.version(of: "a", in: catalog) == "1")
    try await catalog.products.flush()  // the value is stored after the answer
    #expect(try await Self.version(of: "a", in: catalog) == "1")
    #expect(await upstream.eventually { $0.exchanges.count == 2 })
    withExtendedLifetime(catalog) {}
  }

  @Test(.enabled(if: isInstalled)) func `memory follows what another process removes`() async throws
  {
    let (upstream, server) = (try Self.upstream(), try LocalRedis())
    let (one, other) = (try Self.catalog(upstream, server), try Self.catalog(upstream, server))
    #expect(try await Self.version(of: "a", in: one) == "1")
    #expect(try await Self.version(of: "a", in: other) == "1")

    try await one.products.remove("a").value
    try await other.redis.ping().value  // the report of the removal is there

    #expect(try await Self.version(of: "a", in: other) == "2")
  }

  @Test func `what is missing opens no circuit, and is asked for once`() async throws {
    let upstream = try Self.upstream()
    let nowhere = try Redis(.unix(path: "/nowhere/at-all"))
    let catalog = Catalog(upstream: try upstream.url("/"), redis: nowhere)

    for round in 1...2 {
      for number in 1...7 {
        await #expect(throws: TransferError.self) {
          try await catalog.products.get("missing\(number)").value
        }
      }
      #expect(upstream.exchanges.count == 7, "\(round)")
    }
    #expect(catalog.products.openCircuits.isEmpty)
    #expect(try await Self.version(of: "a", in: catalog) == "1")
  }

  @Test func `a shutdown ends fetches, and the client can be closed`() async throws {
    let upstream = try Self.upstream()
    let catalog = Catalog(
      upstream: try upstream.url("/"), redis: try Redis(.unix(path: "/nowhere/at-all")))

    try? await catalog.products.shutDown(deadline: .after(.seconds(5)))
    catalog.redis.close()

    await #expect(throws: CacheError.self) { try await catalog.products.get("a").value }
    #expect(upstream.exchanges.isEmpty)
  }
}
