import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import MillpondSignals
import TestTraits
import Testing

/// Servers that are killed, restarted, paused, full or busy.
@Suite(.withServer, .heavy) struct RedisFailureTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  @Test func `without a server gets fail at once, and the layer below answers`() async throws {
    let redis = try Redis(.unix(path: "/nowhere/at-all"))
    let cache = RedisCache(redis, prefix: "")

    let error = await failure(of: cache.get("k"))
    guard case .unavailable(_, let reason as RedisError) = error,
      case .system("connect", _) = reason
    else {
      Issue.record("\(String(describing: error))")
      return
    }
    let second = await failure(of: cache.get("k"))
    guard case .circuitOpen("RedisCache at /nowhere/at-all", let remaining, let cause) = second
    else {
      Issue.record("\(String(describing: second))")
      return
    }
    #expect(remaining <= .seconds(2))
    #expect(cause as? RedisError == reason)
    let origin = FunctionSource<String, Data>.signal { _ in .just(Data([1])) }
    #expect(try await cache.layered(over: origin).get("k").value == Data([1]))
  }

  @Test func `an address that can't be, fails`() async throws {
    let long = RedisCache(try Redis(.unix(path: String(repeating: "x", count: 200))), prefix: "")
    let unknown = RedisCache(try Redis(.tcp(host: "nowhere.invalid")), prefix: "")

    for cache in [long, unknown] {
      guard case .unavailable = await failure(of: cache.get("k")) else {
        Issue.record("not unavailable")
        continue
      }
    }
  }

  @Test(arguments: [1, 3])
  func `a lost connection empties memory before anything fails or is answered`(connections: Int)
    async throws
  {
    let (memory, cache, shared) = try await layers(connections: connections)
    for number in 0..<10 { try await cache.set(Data([1]), for: "\(number)").value }
    #expect(memory.now("1", Lookup()) != nil)
    let counts = Locked<[Int]>([])

    scene.server.kill()
    while true {
      let error = await failure(
        of: shared.get("x").onEnd { _ in
          counts.withLock { $0.append(memory.count) }
        })
      if error != nil { break }
    }

    #expect(counts.withLock { $0.last } == 0)
    cache.set(Data([2]), for: "1")
    #expect(memory.now("1", Lookup()) == nil, "nothing is kept that is not followed")
  }

  @Test func `after a restart gets work again, and memory follows again`() async throws {
    let (memory, cache, shared) = try await layers(connections: 2)
    try await cache.set(Data([1]), for: "k").value
    scene.server.kill()
    while await failure(of: shared.get("k")) == nil {}
    try scene.server.start()
    while await failure(of: shared.get("k")) != nil { await Task.yield() }
    try await shared.tracks()

    #expect(try await cache.found("k") == nil)
    try await cache.set(Data([2]), for: "k").value
    #expect(memory.now("k", Lookup()) == Data([2]))
    try await scene.cache().set(Data([3]), for: "k").value
    try await shared.redisReports()
    #expect(memory.now("k", Lookup()) == nil)
  }

  @Test func `a paused server makes gets fail by the deadline, and memory empty`() async throws {
    let (memory, cache, shared) = try await layers(
      connections: 1, deadline: .milliseconds(300), heartbeat: .seconds(10))
    try await cache.set(Data([1]), for: "k").value
    scene.server.pause()

    guard case .unavailable(_, let reason as RedisError) = await failure(of: shared.get("x")) else {
      Issue.record("not unavailable")
      return
    }
    #expect(reason == .timedOut)
    #expect(memory.now("k", Lookup()) == nil)
    scene.server.resume()
    while await failure(of: shared.get("k")) != nil { await Task.yield() }
    #expect(try await cache.found("k") == Data([1]))
  }

  @Test func `silence is noticed without any get`() async throws {
    let (memory, cache, _) = try await layers(
      connections: 1, deadline: .milliseconds(100), heartbeat: .milliseconds(100))
    try await cache.set(Data([1]), for: "k").value
    scene.server.pause()

    while memory.now("k", Lookup()) != nil { await Task.yield() }
    scene.server.resume()
  }

  @Test func `a server that is full, read-only or loading makes a failing layer`() async throws {
    let cache = try scene.cache()
    try await cache.set(Data(count: 1_000), for: "k").value
    try scene.server.command("CONFIG", "SET", "maxmemory", "1")
    #expect(await code(of: cache.set(Data(), for: "a")) == "OOM")
    #expect(try await cache.found("k")?.count == 1_000)
    try scene.server.command("CONFIG", "SET", "maxmemory", "0")
    try scene.server.command("REPLICAOF", "127.0.0.1", "1")
    #expect(await code(of: cache.set(Data(), for: "a")) == "READONLY")
    try scene.server.command("CONFIG", "SET", "replica-serve-stale-data", "no")
    #expect(await code(of: cache.get("k").map { _ in () }) == "MASTERDOWN")
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let origin = FunctionSource<String, Data>.signal { _ in .just(Data([1])) }

    #expect(try await memory.layered(over: cache).layered(over: origin).get("k").value == Data([1]))
  }

  @Test func `a server that loads its data makes a failing layer, until it has loaded`()
    async throws
  {
    let former = try scene.cache()
    for number in 0..<600 { former.set(Data(count: 2_000), for: "\(number)") }
    try await former.flush().value
    try scene.server.command("SAVE")
    scene.server.kill()
    let slow = try RedisScene(
      [
        "--dir", scene.server.folder.path, "--loading-process-events-interval-bytes", "1024",
        "--key-load-delay", "20000",
      ], until: "Server initialized")
    let cache = try slow.cache()

    var codes: Set<String?> = []
    codes.insert(await code(of: cache.get("1").map { _ in () }))
    codes.insert(await code(of: cache.set(Data(), for: "1")))
    try slow.server.command("CONFIG", "SET", "key-load-delay", "0")
    while await code(of: cache.get("1").map { _ in () }) != nil {}

    #expect(codes == ["LOADING"])
    #expect(try await cache.found("1")?.count == 2_000)
  }

  /// Two nodes that know each other, of which the second has the key's slot.
  @Test func `a key of another node of a cluster fails, and the layer below answers`() async throws
  {
    let ports = try (0..<2).map { _ in try LocalRedis.freePort() }
    let nodes = try ports.map {
      try RedisScene(["--cluster-enabled", "yes", "--cluster-port", "\($0)"])
    }
    let cache = try nodes[0].cache()
    let origin = FunctionSource<String, Data>.signal { _ in .just(Data([1])) }
    #expect(await code(of: cache.set(Data(), for: "k")) == "CLUSTERDOWN")

    try nodes[1].server.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
    try nodes[0].server.command(
      "CLUSTER", "MEET", "127.0.0.1", "\(nodes[1].server.port)", "\(ports[1])")
    while await code(of: cache.get("k").map { _ in () }) == "CLUSTERDOWN" {}

    #expect(await code(of: cache.get("k").map { _ in () }) == "MOVED")
    #expect(await code(of: cache.set(Data(), for: "k")) == "MOVED")
    #expect(await code(of: cache.values(of: ["k"]).map { _ in () }) == "MOVED")
    #expect(try await cache.layered(over: origin).get("k").value == Data([1]))
    await #expect {
      try await cache.get("k").value
    } throws: { error in
      "\(error)".contains("RedisAddress.cluster")
    }
  }

  @Test func `failures and the open circuit are in provenance and statistics`() async throws {
    let cache = RedisCache(try Redis(.unix(path: "/nowhere/at-all")), prefix: "")
    let monitor = CacheMonitor()
    let origin = FunctionSource<String, Data>.signal { _ in .just(Data([1])) }
    let layered = cache.named("shared").layered(over: origin.named("origin")).monitored(by: monitor)
    for _ in 0..<3 { _ = try await layered.get("k").value }

    #expect(monitor.statistics["shared"]?.failures == 1)
    #expect(monitor.statistics["shared"]?.refusals == 2)
    #expect(monitor.statistics["origin"]?.hits == 3)
  }

  /// Killed and restarted again and again while tasks get and set.
  @Test func `under load every get ends, and no answer is older than a known write`() async throws {
    let (_, cache, shared) = try await layers(
      connections: 2, deadline: .milliseconds(500), heartbeat: .milliseconds(200))
    let stop = Locked(false)
    let totals = Locked((answers: 0, misses: 0, failures: 0, stale: 0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          // Each task writes its own keys with growing numbers.
          var known: [Int: Int] = [:]
          for number in 1... {
            if stop.withLock({ $0 }) { break }
            let key = number % 10
            if number % 3 == 0 {
              let value = Data("\(number)".utf8)
              if (try? await cache.set(value, for: "\(task).\(key)").value) != nil {
                known[key] = number
              } else {
                // It may have been carried out or not, so a later answer may be either.
                known[key] = nil
              }
              continue
            }
            do {
              let found = try await cache.found("\(task).\(key)").map {
                String(decoding: $0, as: UTF8.self)
              }
              totals.withLock { totals in
                totals.answers += found == nil ? 0 : 1
                totals.misses += found == nil ? 1 : 0
                // A restarted server is empty; it never has an older value.
                if let known = known[key], let found, Int(found) ?? 0 < known { totals.stale += 1 }
              }
            } catch {
              totals.withLock { $0.failures += 1 }
              await Task.yield()
            }
          }
        }
      }
      group.addTask {
        for round in 0..<4 {
          _ = try await shared.contains("x").value
          if round % 2 == 0 {
            scene.server.kill()
            while await failure(of: shared.get("x")) == nil {}
            try scene.server.start()
          } else {
            scene.server.pause()
            while await failure(of: shared.get("x")) == nil {}
            scene.server.resume()
          }
          while await failure(of: shared.get("x")) != nil { await Task.yield() }
        }
        // However little was done before: the server works now.
        while totals.withLock({ $0.answers == 0 }) { await Task.yield() }
        stop.withLock { $0 = true }
      }
      try await group.waitForAll()
    }

    let seen = totals.withLock { $0 }
    print("killed and paused under load: \(seen)")
    #expect(seen.stale == 0)
    #expect(seen.answers > 0 && seen.failures > 0)
  }

  // MARK: Helpers

  private func layers(
    connections: Int, deadline: Duration = .seconds(10), heartbeat: Duration = .seconds(10)
  ) async throws -> (MemoryCache<String, Data>, AnyCache<String, Data>, RedisCache) {
    let redis = try scene.client(
      connections: connections, deadline: deadline, heartbeat: heartbeat)
    let shared = RedisCache(redis, prefix: "")
    let memory = MemoryCache<String, Data>(countLimit: 100)
    let cache = AnyCache(memory.following(shared).layered(over: shared))
    try await shared.tracks()
    return (memory, cache, shared)
  }

  /// The failure of a signal; nil if it ends otherwise.
  private func failure(of signal: Signal<some Sendable>) async -> CacheError? {
    do {
      _ = try await signal.collect().value
      return nil
    } catch {
      return error as? CacheError
    }
  }

  private func code(of signal: Signal<Void>) async -> String? {
    guard case .unavailable(_, let reason as RedisError) = await failure(of: signal) else {
      return nil
    }
    return reason.serverCode
  }
}
