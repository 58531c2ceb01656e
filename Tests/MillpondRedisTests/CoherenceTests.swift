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
    let (_, cache, shared) = try await scene.layers(tracking)
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
    let (memory, cache, shared) = try await scene.layers(.byPrefix)
    let revision = Revision.next()
    try await scene.cache("p/").set(Data([2]), for: "k").value
    try await shared.redisReports()

    try await cache.apply(.set("k", Stamped(Data([3])), revision)).value

    #expect(memory.now("k", Lookup()) == Data([3]))
  }

  @Test(arguments: [["--maxmemory", "1"], ["--replicaof", "127.0.0.1", "1"]])
  func `a set that the server refuses is not in memory`(options: [String]) async throws {
    let scene = try RedisScene(options)
    let (memory, cache, shared) = try await scene.layers(.byPrefix)

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

  /// The server forgets who has read a key, and says so.
  @Test func `memory follows a server that can't remember all keys that were read`() async throws {
    let (memory, cache, shared) = try await scene.layers(.byKey)
    let (other, keys) = (try scene.cache("p/"), (0..<50).map { "k\($0)" })
    for key in keys { try await other.set(Data([1]), for: key).value }
    try scene.server.command("CONFIG", "SET", "tracking-table-max-keys", "1")
    for key in keys { #expect(try await cache.found(key) == Data([1])) }

    for key in keys { try await other.set(Data([2]), for: key).value }
    try await shared.redisReports()

    for key in keys { #expect(memory.now(key, Lookup()) != Data([1])) }
  }

  /// Nothing can be answered meanwhile.
  @Test func `a write that a later one has overtaken succeeds no earlier than that`() async throws {
    let (shared, revision) = (try scene.cache("p/"), Revision.next())
    try await shared.flush().value
    let recorders = [Recorder<Void>(), Recorder<Void>()]
    scene.server.pause()

    shared.set(Data([2]), for: "k")
    recorders[0].subscribe(to: shared.apply(.set("k", Stamped(Data([1])), revision)))
    recorders[1].subscribe(to: shared.apply(.remove("k", revision)))

    for recorder in recorders { #expect(recorder.values.isEmpty) }
    scene.server.resume()
    for recorder in recorders { try await recorder.ended() }
    for recorder in recorders { #expect(recorder.values.count == 1) }
    #expect(try await shared.found("k") == Data([2]))
  }

  /// The server reports nothing of it.
  @Test(arguments: trackings, [false, true])
  func `memory follows an exchange of databases after a heartbeat`(
    tracking: RedisTracking, isBusy: Bool
  ) async throws {
    // A busy client looks at its heartbeat no sooner than a deadline after the last look.
    let redis = try scene.client(
      tracking: tracking, deadline: .seconds(2), heartbeat: .milliseconds(50))
    let shared = RedisCache(redis, prefix: "p/")
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let cache = memory.following(shared).layered(over: shared)
    try await shared.tracks()
    try await scene.cache("p/").set(Data([1]), for: "k").value
    try await shared.redisReports()
    #expect(try await cache.found("k") == Data([1]) && memory.count == 1)

    try scene.server.command("SWAPDB", "0", "1")

    while memory.count > 0 {
      if isBusy { try await shared.flush().value } else { await Task.yield() }
    }
    #expect(try await cache.found("k") == nil)
  }

  /// The server still has it: its own clock has not moved.
  @Test func `a value's own time to live ends in memory when it ends`() async throws {
    let (shared, clock) = (try scene.cache("p/"), ManualClock())
    let memory = MemoryCache<String, Data>(countLimit: 10, clock: clock)
    let cache = memory.following(shared).layered(over: shared)
    try await shared.tracks()
    let stored = Stamped(Data([1]), age: .seconds(100), timeToLive: .after(.seconds(3_600)))
    for key in ["set", "read"] {
      let (writer, revision) = (
        key == "set" ? AnyCache(cache) : try AnyCache(scene.cache("p/")), Revision.next()
      )
      try await writer.apply(.set(key, stored, revision)).value
      try await shared.redisReports()
      #expect(try await cache.found(key) == Data([1]))
      clock.advance(by: .seconds(3_500))
      #expect(memory.now(key, Lookup()) == Data([1]))

      clock.advance(by: .seconds(101))

      #expect(memory.now(key, Lookup()) == nil)
    }
  }

  @Test func `equal keys of different bytes are one entry`() async throws {
    let (memory, cache, shared) = try await scene.layers(.byPrefix)
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

}

extension RedisScene {
  /// Returns a cache on the server with memory that follows it, once it does.
  func layers(
    _ tracking: RedisTracking
  ) async throws -> (MemoryCache<String, Data>, AnyCache<String, Data>, RedisCache) {
    let shared = try cache("p/", tracking: tracking)
    let memory = MemoryCache<String, Data>(countLimit: 100)
    let cache = AnyCache(memory.following(shared).layered(over: shared))
    try await shared.tracks()
    return (memory, cache, shared)
  }
}
