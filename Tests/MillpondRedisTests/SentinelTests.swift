import Foundation
import LocalRedis
import Millpond
import MillpondSignals
import TestTraits
import Testing

@testable import MillpondRedis

/// A primary and its replica, and sentinels that are real or say what a test wants.
@Suite(.withServer, .heavy) struct SentinelTests {
  let first: RedisScene
  let second: RedisScene

  init() throws {
    first = try RedisScene(["--repl-diskless-sync-delay", "0"])
    second = try RedisScene(["--repl-diskless-sync-delay", "0"])
  }

  private func address(_ scene: RedisScene) -> RedisAddress {
    .tcp(host: "127.0.0.1", port: scene.server.port)
  }

  /// Makes the second server a replica, and starts a sentinel that knows both.
  private func sentinel() async throws -> LocalRedis {
    try second.server.command("REPLICAOF", "127.0.0.1", "\(first.server.port)")
    while try !second.server.command("INFO", "replication").contains("master_link_status:up") {
      await Task.yield()
    }
    return try LocalRedis(
      ["--sentinel"],
      configuration: """
        sentinel monitor main 127.0.0.1 \(first.server.port) 1
        sentinel down-after-milliseconds main 500
        sentinel failover-timeout main 2000

        """, until: "+slave slave")
  }

  private func cache(
    _ sentinels: [UInt16], heartbeat: Duration = .seconds(10), password: String? = nil,
    tracking: RedisTracking = .byPrefix
  ) throws -> RedisCache {
    let addresses = sentinels.map { RedisAddress.tcp(host: "127.0.0.1", port: $0) }
    let redis = try Redis(
      .sentinels(addresses, service: "main", password: password), deadline: .seconds(30),
      heartbeat: heartbeat, tracking: tracking)
    return RedisCache(redis, prefix: "p/")
  }

  /// A server that answers as a sentinel that names a port.
  private func naming(_ port: @escaping @Sendable () -> UInt16) throws -> ScriptedServer {
    try ScriptedServer { _, command in
      guard command == ["SENTINEL", "get-master-addr-by-name", "main"] else { return "-ERR x\r\n" }
      let text = "\(port())"
      return "*2\r\n$9\r\n127.0.0.1\r\n$\(text.count)\r\n\(text)\r\n"
    }
  }

  private func place(_ cache: RedisCache) -> RedisAddress? {
    cache.redis.statistics.connections[0].address
  }

  // MARK: Real ones

  @Test func `when the primary dies, its replica takes over; gets end, and memory is empty`()
    async throws
  {
    let sentinel = try await sentinel()
    let shared = try cache([try LocalRedis.freePort(), sentinel.port], heartbeat: .seconds(1))
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let cache = memory.following(shared).layered(over: shared)
    try await shared.tracks()
    try await cache.set(Data([1]), for: "k").value
    while try second.server.command("EXISTS", "p/k") == "0" { await Task.yield() }
    #expect(place(shared) == address(first))

    first.server.kill()
    var failures = 0
    while place(shared) != address(second) || !shared.redis.isTracking {
      do { _ = try await cache.found("k") } catch { failures += 1 }
      await Task.yield()
    }

    #expect(try await shared.found("k") == Data([1]), "the replica had received it")
    try await cache.set(Data([2]), for: "k").value
    #expect(memory.now("k", Lookup()) == Data([2]))
    try await second.cache("p/").set(Data([3]), for: "k").value
    try await shared.redisReports()
    #expect(try await cache.found("k") == Data([3]))
  }

  @Test func `a primary that is demoted is left`() async throws {
    let sentinel = try await sentinel()
    let shared = try cache([sentinel.port], heartbeat: .seconds(1))
    try await shared.tracks()

    // It has to know first that the replica is one.
    while try sentinel.command("SENTINEL", "FAILOVER", "main") != "OK" { await Task.yield() }
    while place(shared) != address(second) || shared.redis.statistics.connections[0].state != .ready
    {
      _ = try? await shared.found("k")
    }

    try await shared.set(Data([2]), for: "k").value
    #expect(try await second.cache("p/").found("k") == Data([2]))
  }

  // MARK: Those that say what a test wants

  @Test(arguments: [RedisTracking.byPrefix, .off])
  func `a server that answers that it is a replica is left`(tracking: RedisTracking) async throws {
    let primary = Locked(first.server.port)
    let sentinel = try naming { primary.withLock { $0 } }
    let cache = try cache([sentinel.port], tracking: tracking)
    try await cache.set(Data([1]), for: "k").value

    // Its connections last.
    try first.server.command("REPLICAOF", "127.0.0.1", "\(second.server.port)")
    primary.withLock { $0 = second.server.port }
    await #expect {
      try await cache.set(Data([2]), for: "k").value
    } throws: { error in
      ((error as? CacheError)?.underlying as? RedisError)?.serverCode == "READONLY"
    }
    while (try? await cache.set(Data([3]), for: "k").value) == nil { await Task.yield() }

    #expect(place(cache) == address(second))
    #expect(try await cache.found("k") == Data([3]))
  }

  @Test func `a primary that is cut off from its sentinels is left at the next heartbeat`()
    async throws
  {
    let primary = Locked(first.server.port)
    let sentinel = try naming { primary.withLock { $0 } }
    let shared = try cache([sentinel.port], heartbeat: .milliseconds(50))
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let cache = memory.following(shared).layered(over: shared)
    try await shared.tracks()
    try await cache.set(Data([1]), for: "k").value
    #expect(memory.now("k", Lookup()) == Data([1]))

    primary.withLock { $0 = second.server.port }
    while memory.now("k", Lookup()) != nil { await Task.yield() }
    try await shared.tracks()

    #expect(place(shared) == address(second))
    #expect(try await cache.found("k") == nil)
  }

  @Test func `of sentinels that disagree, most are right`() async throws {
    let (old, new) = (first.server.port, second.server.port)
    let isOldNamed = Locked(false)
    let last = { @Sendable in
      isOldNamed.withLock { $0 = true }
      return old
    }
    let later = { @Sendable in
      while !isOldNamed.withLock({ $0 }) {}
      return new
    }
    let sentinels = try [naming(last), naming(later), naming(later), naming(later)]
    let silent = try ScriptedServer { _, _ in "" }
    let cache = try cache(sentinels.map(\.port) + [silent.port])

    try await cache.set(Data([1]), for: "k").value

    #expect(place(cache) == address(second))
  }

  @Test func `a replica that the sentinels name is no primary, until it is one`() async throws {
    try second.server.command("REPLICAOF", "127.0.0.1", "\(first.server.port)")
    let port = second.server.port
    let sentinel = try naming { port }
    let cache = try cache([sentinel.port])

    await #expect {
      try await cache.get("k").value
    } throws: { error in
      "\(error)".contains("the primary of main: the sentinels name a replica")
    }
    try second.server.command("REPLICAOF", "NO", "ONE")
    while (try? await cache.set(Data([1]), for: "k").value) == nil { await Task.yield() }
  }

  @Test(arguments: [
    ("*-1\r\n", "it names no primary"), ("*2\r\n$1\r\na\r\n$5\r\n99999\r\n", "it names no primary"),
    ("*2\r\n$0\r\n\r\n$1\r\n1\r\n", "it names no primary"), ("+OK\r\n", "it names no primary"),
    ("-NOAUTH Authentication required.\r\n", "NOAUTH"), ("?\r\n", "malformed"),
    ("*2000\r\n", "malformed"), ("*2\r\n$15\r\nnowhere.invalid\r\n$1\r\n1\r\n", "nowhere.invalid"),
  ])
  func `a sentinel that names none is named, with its answer`(answer: String, reason: String)
    async throws
  {
    let sentinel = try ScriptedServer { _, _ in answer }
    let cache = try cache([sentinel.port], password: nil)

    await #expect {
      try await cache.get("k").value
    } throws: { error in
      let text = "\(error)"
      return text.contains("main of 127.0.0.1:\(sentinel.port)") && text.contains(reason)
    }
  }

  @Test func `sentinels that are silent fail a get by the deadline, and without any it fails`()
    async throws
  {
    let silent = try ScriptedServer { _, _ in "" }
    let addresses = [RedisAddress.tcp(host: "127.0.0.1", port: silent.port)]
    for addresses in [addresses, []] {
      let redis = try Redis(
        .sentinels(addresses, service: "main"), deadline: .milliseconds(200), tracking: .off)
      let cache = RedisCache(redis, prefix: "")
      await #expect(throws: CacheError.self) { try await cache.get("k").value }
    }
  }

  @Test func `a sentinel with a password is asked with it, and no error has it`() async throws {
    let asked = Locked<[[String]]>([])
    let sentinel = try ScriptedServer { _, command in
      asked.withLock { $0.append(command) }
      return command[0] == "AUTH" ? "-WRONGPASS invalid\r\n" : "_\r\n"
    }
    let cache = try cache([sentinel.port], password: "secret")

    await #expect {
      try await cache.get("k").value
    } throws: { error in
      "\(error)".contains("WRONGPASS") && !"\(error)".contains("secret")
    }
    #expect(asked.withLock { $0.first } == ["AUTH", "secret"])
  }

  /// As a host whose name leads to another server after a failover.
  @Test(arguments: [(Int64(0), 2), (Int64.max / 4, 1)])
  func `without sentinels the address is looked up again, unless the connection is young`(
    lasting: Int64, connections: Int
  ) async throws {
    let count = Locked(0)
    let make: RedisStreamMaker = { _, _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return ScriptedStream { command in
        command[0] != "SET" ? "+OK\r\n" : number == 1 ? "-READONLY x\r\n" : "+STORED\r\n"
      }
    }
    let settings = RedisSettings(
      address: .tcp(host: "host"), database: 0, connections: 1, tracking: .off,
      limits: ConnectionLimits(
        deadline: 30_000_000_000, heartbeat: 30_000_000_000, lasting: lasting),
      stream: make)
    let cache = RedisCache(try Redis(settings), prefix: "")

    var isStored = false
    for _ in 0..<3 {
      isStored = (try? await cache.set(Data([1]), for: "k").value) != nil || isStored
    }

    #expect(isStored == (connections == 2))
    #expect(count.withLock { $0 } == connections)
  }
}
