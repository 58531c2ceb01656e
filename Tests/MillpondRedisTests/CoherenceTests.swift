import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import Testing

/// Memory that follows, and changes whose order in this process is not that of the server.
@Suite(.withServer, .timeLimit(.minutes(1))) struct CoherenceTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  static let trackings = [RedisTracking.byPrefix, .byKey]

  /// The call of the write is held up until the report has arrived, as the system does with a
  /// thread.
  @Test(arguments: trackings, [false, true])
  func `a write that reaches the server after a report of its key is not lost`(
    tracking: RedisTracking, isRemoval: Bool
  ) async throws {
    let (_, cache, shared) = try await layers(scene, tracking)
    let other = try scene.cache("p/")
    for isRead in [false, true] {
      let revision = Revision.next()
      try await other.set(Data([2]), for: "k").value
      try await shared.redisReports()
      if isRead { #expect(try await cache.found("k") == Data([2])) }

      // Sent before the write, and answered after it.
      let reader = isRead ? nil : Recorder<Data>()
      reader?.subscribe(to: cache.get("k"))
      let write = cache.apply(
        isRemoval ? .remove("k", revision) : .set("k", Stamped(Data([3])), revision))
      try await write.value
      try await shared.redisReports()

      #expect(try await cache.found("k") == (isRemoval ? nil : Data([3])))
    }
  }

  @Test func `a value that was set stays in memory, also if its call was held up`() async throws {
    let (memory, cache, shared) = try await layers(scene, .byPrefix)
    let revision = Revision.next()
    try await scene.cache("p/").set(Data([2]), for: "k").value
    try await shared.redisReports()

    try await cache.apply(.set("k", Stamped(Data([3])), revision)).value

    #expect(memory.now("k", Lookup()) == Data([3]))
  }

  @Test(arguments: [["--maxmemory", "1"], ["--replicaof", "127.0.0.1", "1"]])
  func `a set that the server refuses is not in memory`(options: [String]) async throws {
    let scene = try RedisScene(options)
    let (memory, cache, shared) = try await layers(scene, .byPrefix)

    await #expect(throws: CacheError.self) { try await cache.set(Data([1]), for: "k").value }

    #expect(memory.now("k", Lookup()) == nil)
    #expect(try await cache.found("k") == nil)
    #expect(try await shared.found("k") == nil)
    // Layers that remove nothing after a failure.
    let (value, revision) = (Stamped(Data([1])), Revision.next())
    let followed = memory.following(shared)
    let outcome = shared.apply(.set("k", value, revision))
    _ = followed.apply(.set("k", value, revision))
    await #expect(throws: CacheError.self) { try await outcome.value }
    #expect(memory.now("k", Lookup()) == nil)
  }

  @Test(arguments: [false, true])
  func `a get after a report joins no fetch from before it`(hasMemory: Bool) async throws {
    let shared = try scene.cache("p/")
    let origin = TestSource<Data>()
    let fetched = shared.layered(
      over: FunctionSource<String, Data>.signal { _ in origin.signal })
    let memory = MemoryCache<String, Data>(countLimit: 10)
    // One table of shared gets above another one.
    let cache =
      hasMemory
      ? AnyCache(memory.following(shared).layered(over: fetched.reusingInFlight()))
      : AnyCache(fetched)
    let whole = cache.reusingInFlight()
    try await shared.tracks()
    let (first, joined, second) = (Recorder<Data>(), Recorder<Data>(), Recorder<Data>())
    first.subscribe(to: whole.get("k"))
    try await origin.subscriptions(count: 1)
    joined.subscribe(to: whole.get("k"))

    try await scene.cache("p/").set(Data([2]), for: "k").value
    try await shared.redisReports()
    second.subscribe(to: whole.get("k"))
    try await shared.redisReports()
    origin.next(Data([1]))
    origin.completed()
    try await first.ended()
    try await joined.ended()

    #expect(second.values == [Data([2])])
    #expect(first.values == [Data([1])] && joined.values == [Data([1])])
    #expect(origin.subscriptions == 1)
    #expect(try await whole.found("k") == Data([2]))
  }

  @Test(arguments: trackings, [nil, "1"])
  func `a removal of what the server does not have refuses what was fetched before`(
    tracking: RedisTracking, maxmemory: String?
  ) async throws {
    let (memory, _, shared) = try await layers(scene, tracking)
    let origin = TestSource<Data>()
    let source = FunctionSource<String, Data>.signal { _ in origin.signal }
    let cache = memory.following(shared).layered(over: shared.layered(over: source))
    let reader = Recorder<Data>()
    reader.subscribe(to: cache.get("k"))
    try await origin.subscriptions(count: 1)
    // A server that is full reports it as well.
    if let maxmemory { try scene.server.command("CONFIG", "SET", "maxmemory", maxmemory) }

    try await scene.cache("p/").remove("k").value
    try await shared.redisReports()
    try scene.server.command("CONFIG", "SET", "maxmemory", "0")
    origin.next(Data([1]))
    origin.completed()
    try await reader.ended()
    try await shared.redisReports()

    #expect(memory.now("k", Lookup()) == nil)
    #expect(try await shared.found("k") == nil)
    #expect(try await !shared.contains("k").value)
    #expect(try await shared.setIfAbsent(Data([2]), for: "k").value)
  }

  @Test func `equal keys of different bytes are one entry`() async throws {
    let (memory, cache, shared) = try await layers(scene, .byPrefix)
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
    let other = try scene.cache("p/")
    try await cache.set(Data([1]), for: composed).value

    try await other.set(Data([2]), for: decomposed).value
    try await shared.redisReports()

    for key in [composed, decomposed] {
      #expect(try await cache.found(key) == Data([2]))
      #expect(try await shared.contains(key).value)
    }
    #expect(try await shared.values(of: [composed, decomposed]).value == [composed: Data([2])])
    try await other.removeAll { $0 == decomposed }.value
    try await shared.redisReports()
    #expect(memory.now(composed, Lookup()) == nil)
    #expect(try await cache.found(composed) == nil)
    #expect(try scene.server.command("DBSIZE") == "0")
  }

  private func layers(
    _ scene: RedisScene, _ tracking: RedisTracking
  ) async throws -> (MemoryCache<String, Data>, AnyCache<String, Data>, RedisCache) {
    let shared = try scene.cache("p/", tracking: tracking)
    let memory = MemoryCache<String, Data>(countLimit: 100)
    let cache = AnyCache(memory.following(shared).layered(over: shared))
    try await shared.tracks()
    return (memory, cache, shared)
  }
}
