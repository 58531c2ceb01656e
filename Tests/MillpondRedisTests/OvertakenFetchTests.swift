import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import Testing

/// Fetches that other processes' writes overtake.
@Suite(.withServer, .timeLimit(.minutes(1))) struct OvertakenFetchTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

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

  /// The first get has what memory had, and its caller does not have it yet.
  @Test func `a get after a report joins no get that memory has answered before`() async throws {
    let shared = try scene.cache("p/")
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let (asked, held) = (TestSource<Void>(), Locked(true))
    let slow = SlowMemory(base: memory) {
      held.withLock { exchange(&$0, with: false) } ? asked.signal : .empty
    }
    let cache = slow.following(shared).layered(over: shared).reusingInFlight()
    try await shared.tracks()
    try await cache.set(Data([1]), for: "k").value
    let first = Recorder<Data>()
    first.subscribe(to: cache.get("k"))
    try await asked.subscriptions(count: 1)

    try await scene.cache("p/").set(Data([2]), for: "k").value
    try await shared.redisReports()
    #expect(try await cache.found("k") == Data([2]))

    asked.completed()
    try await first.ended()
    #expect(first.values == [Data([1])])
  }

  @Test(arguments: CoherenceTests.trackings, [false, true])
  func `a removal of many keys refuses what was fetched before of those that the server lacks`(
    tracking: RedisTracking, isOfAll: Bool
  ) async throws {
    let (memory, _, shared) = try await scene.layers(tracking)
    let origin = TestSource<Data>()
    let source = FunctionSource<String, Data>.signal { _ in origin.signal }
    let cache = memory.following(shared).layered(over: shared.layered(over: source))
    let other = try scene.cache("p/")
    for number in 1...3 {
      let (key, reader) = ("k\(number)", Recorder<Data>())
      reader.subscribe(to: cache.get(key))
      try await origin.subscriptions(count: number)
      try await other.redisReports()

      // Both in one turn of the server, which reports only the last change of a key, and not to the
      // client that made it.
      scene.server.pause()
      let removals = [
        isOfAll ? other.removeAll() : other.removeAll { $0 == key },
        shared.removeAll { _ in false },
      ]
      scene.server.resume()
      for removal in removals { try await removal.value }
      try await shared.redisReports()
      origin.next(Data([1]))
      origin.completed()
      try await reader.ended()
      try await shared.redisReports()

      #expect(memory.now(key, Lookup()) == nil)
      #expect(try await shared.found(key) == nil)
      // So the server reports it also after everything was removed behind the client's back.
      try scene.server.command("FLUSHALL")
      try await shared.redisReports()
    }
  }

  @Test(arguments: CoherenceTests.trackings)
  func `a reload stores nothing over what was written after it began`(
    tracking: RedisTracking
  ) async throws {
    let (_, _, shared) = try await scene.layers(tracking)
    let (origin, reader) = (TestSource<Data>(), Recorder<Data>())
    let cache = shared.layered(over: FunctionSource<String, Data>.signal { _ in origin.signal })
    reader.subscribe(to: cache.get("k", freshness: .reload))
    try await origin.subscriptions(count: 1)

    try await scene.cache("p/").set(Data([2]), for: "k").value
    try await shared.redisReports()
    origin.next(Data([1]))
    origin.completed()
    try await reader.ended()
    try await shared.redisReports()

    #expect(try await shared.found("k") == Data([2]))
  }

  @Test(arguments: CoherenceTests.trackings, [nil, "1"])
  func `a removal of what the server does not have refuses what was fetched before`(
    tracking: RedisTracking, maxmemory: String?
  ) async throws {
    let (memory, _, shared) = try await scene.layers(tracking)
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
}

/// A cache whose gets have their answers at once, and send them when they are told to.
private struct SlowMemory: Cache {
  let base: MemoryCache<String, Data>
  let hold: @Sendable () -> Signal<Void>

  func get(_ key: String, _ lookup: Lookup) -> Signal<Data> {
    .deferred {
      let value = base.now(key, lookup)
      return hold().ignoreValues(as: Data.self).ifEmpty { value.map { .just($0) } ?? .empty }
    }
  }

  func now(_ key: String, _ lookup: Lookup) -> Data? { nil }

  func apply(_ change: Change<String, Data>) -> Signal<Void> { base.apply(change) }
}
