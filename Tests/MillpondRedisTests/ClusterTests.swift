import Foundation
import LocalRedis
import Millpond
import MillpondSignals
import TestTraits
import Testing

@testable import MillpondRedis

/// A real cluster of three primaries.
@Suite(.withServer, .heavy, .timeLimit(.minutes(2))) struct ClusterTests {
  private func bytes(_ number: Int) -> Data { Data("\(number)".utf8) }

  /// The beginning of all keys of a test.
  private let name = "\(UInt32.random(in: 0 ... .max))/"

  private func cache(_ redis: Redis, _ prefix: String = "p/") -> RedisCache {
    RedisCache(redis, prefix: name + prefix)
  }

  @Test func `keys of all slots are set, got, asked for together, removed and scanned`()
    async throws
  {
    let scene = try await ClusterScene.shared.value
    let cache = cache(try scene.client(knowing: 1))
    let other = self.cache(try scene.client(), "q/")
    let keys = (0..<300).map { "k\($0)" }
    for (number, key) in keys.enumerated() { cache.set(bytes(number), for: key) }
    try await cache.flush().value
    for (number, key) in keys.enumerated() {
      #expect(try await cache.found(key) == bytes(number))
    }
    let all = try await cache.values(of: keys + ["none"]).value
    #expect(all.count == 300 && all["k17"] == bytes(17))
    #expect(try await cache.contains("k1").value)
    #expect(try await cache.setIfAbsent(bytes(1), for: "k1").value == false)
    try await other.set(bytes(1), for: "k1").value

    try await cache.remove("k1").value
    #expect(try await cache.found("k1") == nil)
    try await cache.removeAll(where: { $0.hasSuffix("2") }).value
    #expect(try await cache.values(of: keys).value.count == 300 - 1 - 30)
    for server in scene.primaries { try server.command("CONFIG", "RESETSTAT") }
    try await cache.removeAll().value
    #expect(try await cache.values(of: keys).value.isEmpty)
    for server in scene.primaries {
      #expect(try server.command("INFO", "commandstats").contains("cmdstat_eval:"), "tells of it")
    }
    #expect(try await other.found("k1") == bytes(1))
    #expect(cache.redis.statistics.connections.map(\.state) == [.ready, .ready, .ready])
  }

  @Test func `memory follows other processes on all servers, also removals of many keys`()
    async throws
  {
    let scene = try await ClusterScene.shared.value
    let (mine, theirs) = (cache(try scene.client()), cache(try scene.client(knowing: 2)))
    let memory = MemoryCache<String, Data>(countLimit: 1_000)
    let cache = memory.following(mine).layered(over: mine)
    try await mine.tracks()
    let keys = (0..<60).map { "k\($0)" }
    for key in keys { try await cache.set(bytes(1), for: key).value }
    #expect(keys.allSatisfy { memory.peek($0) != nil })

    for key in keys { try await theirs.set(bytes(2), for: key).value }
    for key in keys {
      try await mine.redis.ping().value
      #expect(try await cache.found(key) == bytes(2))
    }
    try await theirs.removeAll().value
    try await mine.redis.ping().value
    #expect(keys.allSatisfy { memory.peek($0) == nil })
    for key in keys { #expect(try await cache.found(key) == nil) }
  }

  @Test func `a slot that moves takes gets and sets with it, in order, before and after`()
    async throws
  {
    let scene = try await ClusterScene.shared.value
    let redis = try scene.client()
    let cache = cache(redis)
    let slot = ClusterSlot.of(cache.serverKey("{a}1"))
    for number in 0..<5 { try await cache.set(bytes(number), for: "{a}\(number)").value }
    let source = try scene.owner(of: slot)
    let target = (source + 1) % 3

    try await scene.move(slot, to: target) {
      // These servers say ASK.
      #expect(try await cache.found("{a}3") == bytes(3))
      let writes = (10..<40).map { cache.set(bytes($0), for: "{a}new") }
      for write in writes { try await write.value }
      #expect(try await cache.found("{a}new") == bytes(39))
    }
    // And now MOVED.
    let writes = (40..<80).map { cache.set(bytes($0), for: "{a}new") }
    #expect(try await cache.found("{a}new") == bytes(79))
    for write in writes { try await write.value }
    #expect(try scene.primaries[target].command("GET", "\(name)p/{a}new").hasPrefix("79"))
    #expect(
      redis.loop.connections[0].withState { $0.nodes[$0.slots[slot]].address }
        == .tcp(host: "127.0.0.1", port: scene.primaries[target].port))
    try await cache.removeAll().value
    #expect(try await cache.values(of: (0..<5).map { "{a}\($0)" }).value.isEmpty)
  }

  @Test func `memory follows a key while and after its slot moves`() async throws {
    let scene = try await ClusterScene.shared.value
    let (mine, theirs) = (cache(try scene.client()), cache(try scene.client(knowing: 2)))
    let memory = MemoryCache<String, Data>(countLimit: 1_000)
    let cache = memory.following(mine).layered(over: mine)
    try await mine.tracks()
    let slot = ClusterSlot.of(mine.serverKey("k"))
    for round in 1...3 {
      let target = (try scene.owner(of: slot) + round) % 3
      try await cache.set(bytes(round), for: "k").value
      if try scene.owner(of: slot) != target {
        try await scene.move(slot, to: target) {
          try await theirs.set(bytes(10 + round), for: "k").value
          try await mine.redis.ping().value
          #expect(try await cache.found("k") == bytes(10 + round))
        }
      }
      try await theirs.set(bytes(20 + round), for: "k").value
      try await mine.redis.ping().value
      #expect(try await cache.found("k") == bytes(20 + round))
      try await theirs.remove("k").value
      try await mine.redis.ping().value
      #expect(try await cache.found("k") == nil)
    }
  }

  @Test func `when a primary dies, gets end, its replica takes over, and memory is empty`()
    async throws
  {
    let scene = try await ClusterScene(hasReplicas: true)
    let mine = cache(try scene.client(deadline: .seconds(1), heartbeat: .milliseconds(200)))
    let memory = MemoryCache<String, Data>(countLimit: 1_000)
    let cache = memory.following(mine).layered(over: mine)
    try await mine.tracks()
    let keys = (0..<30).map { "k\($0)" }
    for key in keys { try await cache.set(bytes(1), for: key).value }
    for (primary, replica) in zip(scene.primaries, scene.replicas) {
      while try primary.command("DBSIZE") != replica.command("DBSIZE") { await Task.yield() }
    }

    scene.primaries[0].kill()
    while mine.redis.isTracking { await Task.yield() }
    #expect(keys.allSatisfy { memory.peek($0) == nil })
    var (values, failures) = (0, 0)
    while values < keys.count {
      values = 0
      for key in keys {
        do {
          if try await cache.found(key) == bytes(1) { values += 1 }
        } catch {
          failures += 1
        }
      }
    }
    #expect(failures > 0)
    while !mine.redis.isTracking { await Task.yield() }
    for key in keys { try await cache.set(bytes(2), for: key).value }
    let addresses = mine.redis.statistics.connections.compactMap(\.address)
    #expect(!addresses.contains(.tcp(host: "127.0.0.1", port: scene.primaries[0].port)))
    #expect(addresses.contains(.tcp(host: "127.0.0.1", port: scene.replicas[0].port)))
    #expect(addresses.count == 3)
  }

  @Test func `leases work in a cluster`() async throws {
    let scene = try await ClusterScene.shared.value
    let fetches = Locked(0)
    let caches = try (0..<3).map { place -> AnyCache<String, Data> in
      let shared = cache(try scene.client(knowing: place))
      let source = FunctionSource<String, Data> { key in
        fetches.withLock { $0 += 1 }
        try await Task.sleep(for: .milliseconds(20))
        return Data(key.utf8)
      }
      return AnyCache(shared.layered(over: source, leasing: shared, for: .seconds(5)))
    }
    for number in 0..<10 {
      let gets = caches.map { $0.get("k\(number)").started() }
      for get in gets { #expect(try await get.value == Data("k\(number)".utf8)) }
    }
    #expect(fetches.withLock { $0 } == 10)
  }
}
