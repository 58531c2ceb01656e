import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondSignals
import MillpondTesting
import Testing

/// A memory layer over the shared one, and another process, which is another client here.
@Suite(.withServer) struct FollowingTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  /// The ways to be told of changes, and the numbers of connections.
  static let manners: [(RedisTracking, Int)] = [
    (.byPrefix, 1), (.byPrefix, 3), (.byKey, 1), (.byKey, 3),
  ]

  @Test(arguments: manners)
  func `memory forgets what another process sets or removes`(
    tracking: RedisTracking, connections: Int
  ) async throws {
    let (memory, cache, shared) = try await layers(tracking, connections)
    let other = try scene.cache("p/")
    for change in 0..<6 {
      let key = "k\(change % 2)"
      _ = try await cache.found(key)
      cache.set(Data([1]), for: key)
      try await shared.flush().value
      // By key the server reports also what this process writes.
      if change == 3 || tracking == .byKey { _ = try await cache.found(key) }
      #expect(memory.now(key, Lookup()) == Data([1]))
      try await (change < 4 ? other.set(Data([2]), for: key) : other.remove(key)).value
      try await shared.redisReports()

      #expect(memory.now(key, Lookup()) == nil)
      #expect(try await cache.found(key) == (change < 4 ? Data([2]) : nil))
    }
  }

  @Test(arguments: manners)
  func `memory forgets what another process removes altogether`(
    tracking: RedisTracking, connections: Int
  ) async throws {
    let (memory, cache, shared) = try await layers(tracking, connections)
    for key in ["a", "b", "c"] { try await cache.set(Data([1]), for: key).value }
    for key in ["a", "b", "c"] { _ = try await cache.found(key) }

    try await scene.cache("p/").removeAll { $0 != "c" }.value
    try await shared.redisReports()

    #expect(["a", "b", "c"].map { memory.now($0, Lookup()) != nil } == [false, false, false])
    #expect(try await cache.found("c") == Data([1]) && memory.now("c", Lookup()) != nil)
    try scene.server.command("FLUSHALL")
    try await shared.redisReports()
    #expect(memory.now("c", Lookup()) == nil)
  }

  @Test func `own writes stay in memory`() async throws {
    let (memory, cache, shared) = try await layers(.byPrefix, 2)
    for number in 0..<20 { cache.set(Data([UInt8(number)]), for: "\(number)") }
    try await shared.redisReports()

    for number in 0..<20 { #expect(memory.now("\(number)", Lookup()) == Data([UInt8(number)])) }
  }

  /// The newer one has reached both layers, was evicted, and is not remembered any more, when the
  /// older one goes on to memory.
  @Test func `of overlapping sets of the process none leaves memory older than the server`()
    async throws
  {
    let shared = try scene.cache("p/")
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let next = Locked<(@Sendable () -> Void)?>(nil)
    let cache = memory.following(shared).layered(
      over: InterruptedWrites(base: shared) { next.withLock { exchange(&$0, with: nil) }?() })
    try await shared.tracks()
    next.withLock {
      $0 = {
        cache.set(Data([2]), for: "k")
        memory.trim(to: 0)
        // As after the reports of many changes by other processes.
        for number in 0..<4_096 { memory.remove("\(number)") }
      }
    }

    try await cache.set(Data([1]), for: "k").value

    #expect(try await cache.found("k") == Data([2]))
  }

  @Test func `another composition of the process follows too`() async throws {
    let (memory, cache, shared) = try await layers(.byPrefix, 1)
    let second = MemoryCache<String, Data>(countLimit: 10)
    let others = second.following(shared).layered(over: shared)
    try await cache.set(Data([1]), for: "k").value
    #expect(try await others.found("k") == Data([1]))

    cache.set(Data([2]), for: "k")

    #expect(second.now("k", Lookup()) == nil)
    #expect(memory.now("k", Lookup()) == Data([2]))
    _ = cache.removeAll { $0 == "k" }
    #expect(memory.now("k", Lookup()) == nil)
  }

  /// The value is in a codec when the report arrives.
  @Test func `a value that was read before a report is not kept`() async throws {
    let held = TestSource<Data>()
    let shared = try scene.cache("p/")
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let slow = shared.mapValues(
      Codec<Data, Data>.asynchronous(
        encode: { $0 }, decode: { _ in try await held.signal.value }))
    let cache = memory.following(shared).layered(over: slow)
    try await shared.set(Data([1]), for: "k").value
    let reader = Recorder<Data>()
    reader.subscribe(to: cache.get("k"))
    try await held.subscriptions(count: 1)

    try await scene.cache("p/").set(Data([2]), for: "k").value
    try await shared.redisReports()
    held.next(Data([1]))
    try await reader.ended()

    #expect(reader.values == [Data([1])])
    #expect(memory.now("k", Lookup()) == nil)
  }

  @Test func `keys of another type are found by the closure`() async throws {
    let shared = try scene.cache("p/")
    let memory = MemoryCache<Int, Data>(countLimit: 10)
    let cache = memory.following(shared) { Int($0.dropFirst(5)) }
      .layered(over: shared.mapKeys { "user/\($0)" })
    try await shared.tracks()
    cache.set(Data([1]), for: 7)

    let other = try scene.cache("p/")
    try await other.set(Data([2]), for: "account/8").value
    #expect(memory.now(7, Lookup()) != nil)
    try await other.set(Data([2]), for: "user/7").value
    try await shared.redisReports()

    #expect(memory.now(7, Lookup()) == nil)
  }

  @Test func `a key for which the closure throws empties memory`() async throws {
    struct NoKey: Error {}
    let shared = try scene.cache("p/")
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let cache = memory.following(shared) { key in
      if key == "bad" { throw NoKey() }
      return key
    }
    .layered(over: shared)
    try await shared.tracks()
    cache.set(Data([1]), for: "k")
    #expect(memory.now("k", Lookup()) != nil)

    try await scene.cache("p/").set(Data([2]), for: "bad").value
    try await shared.redisReports()

    #expect(memory.now("k", Lookup()) == nil)
  }

  @Test func `what memory had before it follows is forgotten`() async throws {
    let memory = MemoryCache<String, Data>(countLimit: 10)
    memory.set(Data([1]), for: "k")
    let followed = memory.following(try scene.cache("p/"))

    #expect(followed.now("k", Lookup()) == nil)
  }

  @Test func `without tracking memory keeps nothing`() async throws {
    let (memory, cache, _) = try await layers(.off, 1)
    try await cache.set(Data([1]), for: "k").value

    #expect(try await cache.found("k") == Data([1]))
    #expect(memory.now("k", Lookup()) == nil)
  }

  @Test func `a second prefix is tracked as well, also one within the first`() async throws {
    let (memory, cache, shared) = try await layers(.byPrefix, 2)
    let second = RedisCache(shared.redis, prefix: "p/q/")
    let inner = MemoryCache<String, Data>(countLimit: 10)
    let others = inner.following(second).layered(over: second)
    try await second.tracks()
    try await others.set(Data([1]), for: "k").value
    try await cache.set(Data([1]), for: "k").value
    #expect(inner.now("k", Lookup()) != nil && memory.now("k", Lookup()) != nil)

    try await scene.cache("p/q/").set(Data([2]), for: "k").value
    try await second.redisReports()

    #expect(inner.now("k", Lookup()) == nil)
    #expect(memory.now("k", Lookup()) != nil)
  }

  /// Another process writes between the get and the fill.
  @Test(arguments: [RedisTracking.byPrefix, .byKey])
  func `a fill that comes after another process's write is refused or taken back`(
    tracking: RedisTracking
  ) async throws {
    let shared = RedisCache(try scene.client(tracking: tracking), prefix: "p/")
    let origin = TestSource<Data>()
    let cache = shared.layered(over: FunctionSource<String, Data>.signal { _ in origin.signal })
    let other = try scene.cache("p/")
    // Otherwise the beginning of the reports refuses the first fill.
    try await shared.tracks()
    for (key, removes) in [("a", false), ("b", true)] {
      let reader = Recorder<Data>()
      reader.subscribe(to: cache.get(key))
      try await origin.subscriptions(count: removes ? 2 : 1)
      try await other.set(Data([2]), for: key).value
      if removes { try await other.remove(key).value }
      try await shared.redisReports()
      origin.next(Data([1]))
      try await shared.redisReports()

      #expect(try await shared.found(key) == (removes ? nil : Data([2])))
      reader.dispose()
    }
  }

  private func layers(
    _ tracking: RedisTracking, _ connections: Int
  ) async throws -> (MemoryCache<String, Data>, AnyCache<String, Data>, RedisCache) {
    let shared = try scene.cache("p/", connections: connections, tracking: tracking)
    let memory = MemoryCache<String, Data>(countLimit: 100)
    let cache = AnyCache(memory.following(shared).layered(over: shared))
    if tracking != .off { try await shared.tracks() }
    return (memory, cache, shared)
  }
}

/// The shared layer, and what happens between a write of it and that of the memory above.
private struct InterruptedWrites: Cache {
  let base: RedisCache
  let act: @Sendable () -> Void

  func get(_ key: String, _ lookup: Lookup) -> Signal<Data> { base.get(key, lookup) }

  func apply(_ change: Change<String, Data>) -> Signal<Void> {
    let outcome = base.apply(change)
    act()
    return outcome
  }
}

extension RedisCache {
  /// Waits until the reports of all earlier changes have arrived: they come before this answer.
  func redisReports() async throws { try await flush().value }

  /// Waits until the server reports changes.
  func tracks() async throws {
    while !redis.isTracking { _ = try? await flush().value }
  }
}
