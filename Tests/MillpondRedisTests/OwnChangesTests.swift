import Dispatch
import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondSignals
import MillpondTesting
import Testing

/// Changes that this process makes itself, which the server reports to other ones only.
@Suite(.withServer) struct OwnChangesTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  @Test(arguments: FollowingTests.manners)
  func `memory follows what this process writes through a cache of a longer prefix`(
    tracking: RedisTracking, connections: Int
  ) async throws {
    let redis = try scene.client(connections: connections, tracking: tracking)
    let (outer, inner) = (RedisCache(redis, prefix: "p/"), RedisCache(redis, prefix: "p/q/"))
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let cache = memory.following(outer).layered(over: outer)
    try await outer.tracks()
    for change in 0..<4 {
      try await cache.set(Data([1]), for: "q/k").value
      try await outer.redisReports()
      #expect(try await cache.found("q/k") == Data([1]))
      #expect(memory.now("q/k", Lookup()) == Data([1]))
      switch change {
      case 0: try await inner.set(Data([2]), for: "k").value
      case 1: try await inner.remove("k").value
      case 2: try await inner.removeAll { $0 == "k" }.value
      default: try await inner.removeAll().value
      }
      #expect(memory.now("q/k", Lookup()) == nil)
      #expect(try await cache.found("q/k") == (change == 0 ? Data([2]) : nil))
    }
  }

  @Test(arguments: FollowingTests.manners)
  func `memory follows what this process writes through a cache of a shorter prefix`(
    tracking: RedisTracking, connections: Int
  ) async throws {
    let redis = try scene.client(connections: connections, tracking: tracking)
    let (outer, inner) = (RedisCache(redis, prefix: "p/"), RedisCache(redis, prefix: "p/q/"))
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let cache = memory.following(inner).layered(over: inner)
    try await inner.tracks()
    for change in 0..<3 {
      for key in ["k", "other"] { try await cache.set(Data([1]), for: key).value }
      try await inner.redisReports()
      for key in ["k", "other"] { #expect(try await cache.found(key) == Data([1])) }
      switch change {
      case 0: try await outer.set(Data([2]), for: "q/k").value
      case 1: try await outer.remove("q/k").value
      default: try await outer.removeAll().value
      }
      #expect(memory.now("k", Lookup()) == nil)
      #expect((memory.now("other", Lookup()) == nil) == (change == 2))
      #expect(try await cache.found("k") == (change == 0 ? Data([2]) : nil))
    }
  }

  @Test func `a removal in a longer prefix forgets also what the server does not have`()
    async throws
  {
    let redis = try scene.client()
    let (outer, inner) = (RedisCache(redis, prefix: "p/"), RedisCache(redis, prefix: "p/q/"))
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let followed = memory.following(outer)
    try await outer.tracks()
    _ = followed.apply(.fill("q/k", Stamped(Data([1])), FillToken()))
    #expect(memory.now("q/k", Lookup()) != nil)

    let removal = inner.removeAll()

    #expect(memory.now("q/k", Lookup()) == nil)
    try await removal.value
  }

  /// The value is fetched before, and stored after the write of the longer prefix.
  @Test func `a fill from before a write through a longer prefix is refused`() async throws {
    let redis = try scene.client()
    let (outer, inner) = (RedisCache(redis, prefix: "p/"), RedisCache(redis, prefix: "p/q/"))
    let origin = TestSource<Data>()
    let cache = outer.layered(over: FunctionSource<String, Data>.signal { _ in origin.signal })
    try await outer.tracks()
    for (number, key) in ["a", "b"].enumerated() {
      let reader = Recorder<Data>()
      reader.subscribe(to: cache.get("q/" + key))
      try await origin.subscriptions(count: number + 1)
      try await inner.set(Data([2]), for: key).value
      if number == 1 { try await inner.removeAll().value }
      origin.next(Data([1]))
      try await outer.redisReports()

      #expect(try await outer.found("q/" + key) == (number == 1 ? nil : Data([2])))
      reader.dispose()
    }
  }

  /// The followers are notified after the command was sent, and may be slow.
  @Test func `a fill that comes before the followers are told of a write is refused`() async throws
  {
    let redis = try scene.client()
    let (outer, inner) = (RedisCache(redis, prefix: "p/"), RedisCache(redis, prefix: "p/q/"))
    let (told, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let followed = MemoryCache<String, Data>(countLimit: 10).following(inner) { key in
      told.signal()
      mayGoOn.wait()
      mayGoOn.signal()
      return key
    }
    let origin = TestSource<Data>()
    let cache = outer.layered(over: FunctionSource<String, Data>.signal { _ in origin.signal })
    try await outer.tracks()
    let reader = Recorder<Data>()
    reader.subscribe(to: cache.get("q/k"))
    try await origin.subscriptions(count: 1)
    let isSet = Promise<Void>()
    DispatchQueue.global().async {
      isSet.keep(by: inner.set(Data([2]), for: "k"))
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        told.wait()
        continuation.resume()
      }
    }

    origin.next(Data([1]))
    try await outer.redisReports()
    try await outer.redisReports()
    mayGoOn.signal()
    try await isSet.outcome.value

    #expect(try await outer.found("q/k") == Data([2]))
    withExtendedLifetime(followed) {}
  }

  @Test(arguments: [RedisTracking.byPrefix, .byKey])
  func `what a removal takes from the server is in no memory that follows`(
    tracking: RedisTracking
  ) async throws {
    let shared = RedisCache(try scene.client(tracking: tracking), prefix: "p/")
    let memory = MemoryCache<String, Data>(countLimit: 1_000)
    let origin = FunctionSource<String, Data>.signal { _ in .just(Data([1])) }
    let cache = memory.following(shared).layered(over: shared.layered(over: origin))
    // Many, so that the removal has many steps, between which fills arrive.
    for number in 0..<5_000 { shared.set(Data(), for: "old\(number)") }
    try await shared.tracks()
    let removal = cache.removeAll()
    let keys = (0..<100).map { "k\($0)" }
    for key in keys { #expect(try await cache.found(key) == Data([1])) }
    try await removal.value
    try await shared.redisReports()

    let stored = try await shared.values(of: keys).value
    for key in keys where stored[key] == nil { #expect(memory.now(key, Lookup()) == nil) }
    #expect(stored.count < keys.count)
    for key in keys { try await scene.cache("p/").set(Data([2]), for: key).value }
    try await shared.redisReports()
    for key in keys { #expect(try await cache.found(key) == Data([2])) }
  }

  /// The key is written on the server alone, and the report of it makes the fill go.
  @Test func `a fill that is taken back is in no memory that follows`() async throws {
    let server = try ScriptedServer { _, command in
      switch command.first {
      case "SET": ">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\np:k\r\n+OK\r\n"
      case "GET", "EVAL": "$-1\r\n"
      default: "+OK\r\n"
      }
    }
    let redis = try Redis(.tcp(host: "127.0.0.1", port: server.port))
    let shared = RedisCache(redis, prefix: "p:", form: .plain)
    let told = Locked(0)
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let followed = memory.following(shared) { key in
      told.withLock { $0 += 1 }
      return key
    }
    try await shared.tracks()

    let outcome = shared.apply(.fill("k", Stamped(Data()), FillToken()))
    for try await _ in outcome.values {}
    _ = try await shared.found("other")

    #expect(told.withLock { $0 } == 2)  // the report, and the removal of the fill
    withExtendedLifetime(followed) {}
  }
}
