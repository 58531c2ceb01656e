import Foundation
import LocalRedis
import Millpond
import MillpondTesting
import Testing
import MillpondSockets

@testable import MillpondRedis

/// Caches that come and go, each with keys of a prefix of its own.
@Suite(.withServer, .timeLimit(.minutes(1))) struct PrefixTests {
  let scene: RedisScene
  private let memory = MemoryCache<String, Data>(countLimit: 100)

  init() throws { scene = try RedisScene() }

  @Test(arguments: [RedisTracking.byPrefix, .byKey], [1, 3])
  func `a further cache leaves in memory what follows others`(
    tracking: RedisTracking, connections: Int
  ) async throws {
    let redis = try scene.client(connections: connections, tracking: tracking)
    let first = RedisCache(redis, prefix: "a/")
    let cache = memory.following(first).layered(over: first)
    try await first.tracks()
    let keys = (0..<10).map { "\($0)" }
    for key in keys { try await cache.set(Data([1]), for: key).value }

    let second = RedisCache(redis, prefix: "b/")
    let another = MemoryCache<String, Data>(countLimit: 100)
    let others = another.following(second).layered(over: second)
    #expect(first.tracked.isInForce)
    try await second.tracks()
    for key in keys { try await others.set(Data([1]), for: key).value }

    #expect(keys.allSatisfy { memory.now($0, Lookup()) != nil })
    #expect(keys.allSatisfy { another.now($0, Lookup()) != nil })
    for key in keys {
      try await scene.cache("a/").set(Data([2]), for: key).value
      try await scene.cache("b/").set(Data([2]), for: key).value
    }
    try await first.redisReports()
    #expect(keys.allSatisfy { memory.now($0, Lookup()) == nil })
    #expect(keys.allSatisfy { another.now($0, Lookup()) == nil })
  }

  /// The server refuses prefixes that begin with each other.
  @Test(arguments: [["p/", "p/q/", "p/q/r/"], ["p/q/r/", "p/q/", "p/", ""], ["", "p/"]])
  func `prefixes that begin with each other come one after the other`(prefixes: [String])
    async throws
  {
    let redis = try scene.client()
    var caches: [RedisCache] = []
    for prefix in prefixes {
      caches.append(RedisCache(redis, prefix: prefix))
      try await caches[0].tracks()
    }
    let cache = memory.following(caches[0]).layered(over: caches[0])
    let key = String("p/q/r/k".dropFirst(prefixes[0].count))
    try await cache.set(Data([1]), for: key).value
    try await scene.cache().set(Data([2]), for: "p/q/r/k").value
    try await caches[0].redisReports()

    #expect(memory.now(key, Lookup()) == nil)
    #expect(memory.count == 0)
    #expect(!caches.contains { !$0.tracked.isInForce })
  }

  @Test func `nothing is kept of caches that are not used any more`() async throws {
    let redis = try scene.client(connections: 2)
    let lasting = RedisCache(redis, prefix: "lasting/")
    let lastingMemory = MemoryCache<String, Data>(countLimit: 10)
    let followed = lastingMemory.following(lasting).layered(over: lasting)
    try await lasting.tracks()
    try await followed.set(Data([1]), for: "k").value
    for number in 0..<200 {
      let cache = RedisCache(redis, prefix: "user\(number)/")
      let layered = memory.following(cache).layered(
        over: cache.layered(over: cache, leasing: cache))
      try await layered.set(Data(), for: "k").value
      if number % 20 == 0 { try await cache.tracks() }
    }
    try await lasting.flush().value
    try await lasting.tracks()
    #expect(lastingMemory.now("k", Lookup()) == Data([1]))

    for connection in redis.loop.connections {
      let numbers = connection.withState { Set($0.orders.keys) }
      #expect(numbers == [lasting.number])
    }
    #expect(try await RedisCache(redis, prefix: "user7/").found("k") == Data())
  }

  @Test func `a cache that is made again begins anew, and is one with another of its prefix`()
    async throws
  {
    let redis = try scene.client()
    let first = RedisCache(redis, prefix: "a/")
    var second: RedisCache? = RedisCache(redis, prefix: "a/")
    #expect(second?.number == first.number)
    second = nil
    #expect(redis.loop.connections[0].withState { $0.orders.count } == 1)

    try await first.set(Data([1]), for: "k").value
    let third = RedisCache(redis, prefix: "a/")
    let removal = third.removeAll()
    #expect(try await first.found("k") == nil, "removals are common")
    try await removal.value
  }

  /// The limits are for users' commands.
  @Test func `a further cache is tracked also while there are too many commands`() async throws {
    let commands = Locked<[String]>([])
    let server = try ScriptedServer { connection, command in
      commands.withLock { $0.append("\(connection) " + command.joined(separator: " ")) }
      return command.first == "GET" ? "" : "+OK\r\n"
    }
    let limits = ConnectionLimits(
      deadline: 10_000_000_000, heartbeat: 10_000_000_000, commands: 1)
    let redis = try Redis(
      RedisSettings(
        address: .tcp(host: "127.0.0.1", port: server.port), database: 0, connections: 1,
        tracking: .byPrefix, limits: limits))
    let first = RedisCache(redis, prefix: "a/")
    try await first.tracks()
    let get = Recorder<Data>().subscribe(to: first.get("k"))

    let second = RedisCache(redis, prefix: "b/")
    while !commands.withLock({ $0 }).contains(where: { $0.contains("PREFIX b/") }) {
      try Task.checkCancellation()
      await Task.yield()
    }

    #expect(server.connections == 1)
    withExtendedLifetime((second, get)) {}
  }

  // MARK: What the server is told

  private func step(
    _ prefixes: [String], after sent: [String]?, _ tracking: RedisTracking = .byPrefix
  ) throws -> (requests: [String], isAnew: Bool) {
    let tracker = RedisTracker(
      tracking,
      [
        RedisConnection(
          0, .init(deadline: 1, heartbeat: 1), try WakePipe(), to: .unix(path: ""))
      ])
    let uses = prefixes.map { tracker.use($0) }
    let step = tracker.step(after: sent.map { SentPrefixes(version: 0, texts: $0) }, on: 0)
    withExtendedLifetime(uses) {}
    let requests = step.requests.map { request in
      var bytes: [UInt8] = []
      request.append(to: &bytes)
      return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        .filter { !"*$".contains($0.prefix(1)) }.dropFirst(2).joined(separator: " ")
    }
    return (requests, step.isAnew)
  }

  @Test func `only further prefixes are told, and all anew where they can't be added`() throws {
    let all = try step(["b/", "a/c/", "a/", "b/"], after: nil)
    #expect(all.requests == ["ON BCAST NOLOOP PREFIX a/ PREFIX b/"])
    #expect(!all.isAnew)
    let further = try step(["a/", "b/", "c/"], after: ["b/", "a/"])
    #expect(further.requests == ["ON BCAST NOLOOP PREFIX c/"])
    #expect(!further.isAnew)
    #expect(try step(["a/", "a/b/"], after: ["a/"]).requests == [])
    #expect(try step(["a/b/"], after: ["a/"]).requests == [], "still reported")
    let shorter = try step(["a/b/", "a/", "c/"], after: ["a/b/", "c/"])
    #expect(shorter.requests == ["OFF", "ON BCAST NOLOOP PREFIX a/ PREFIX c/"])
    #expect(shorter.isAnew)
    #expect(try step(["", "a/"], after: ["a/"]).requests == ["OFF", "ON BCAST NOLOOP"])
    let unused = (0..<RedisTracker.unusedLimit + 2).map { "u\($0)/" }
    #expect(try step(["a/"], after: unused).isAnew)
    #expect(try step(["a/"], after: Array(unused[2...])).requests == ["ON BCAST NOLOOP PREFIX a/"])
    #expect(try step([], after: ["a/"]).requests == [])
    #expect(try step([], after: unused).requests == ["OFF"])
    #expect(try step(["a/"], after: nil, .byKey).requests == ["ON"])
    #expect(try step(["a/"], after: nil, .off).requests == [])
    // Canonically equal, and other bytes.
    #expect(
      try step(["\u{e9}/", "e\u{301}/"], after: nil).requests == [
        "ON BCAST NOLOOP PREFIX e\u{301}/ PREFIX \u{e9}/"
      ])
  }

  @Test func `a confirmation counts only if nothing else was told meanwhile`() throws {
    let connection = RedisConnection(
      0, .init(deadline: 1, heartbeat: 1), try WakePipe(), to: .unix(path: ""))
    let tracker = RedisTracker(.byPrefix, [connection])
    let first = tracker.use("a/b/")
    let sent = tracker.step(after: nil, on: 0).sent
    tracker.began(on: connection.nodes[0], sent.version)
    #expect(first.prefix.isInForce)

    let second = tracker.use("c/")
    let further = tracker.step(after: sent, on: 0)
    let third = tracker.use("a/")
    #expect(first.prefix.isInForce)
    let anew = tracker.step(after: further.sent, on: 0)
    #expect(anew.isAnew)
    tracker.ended(on: connection.nodes[0])
    tracker.began(on: connection.nodes[0], further.sent.version)
    #expect(![first, second, third].contains { $0.prefix.isInForce })

    tracker.began(on: connection.nodes[0], anew.sent.version)
    #expect(![first, second, third].contains { !$0.prefix.isInForce })
    #expect(tracker.isInForce)
    let covered = tracker.use("a/x/")
    #expect(covered.prefix.isInForce)
    #expect(tracker.version == anew.sent.version)
  }
}
