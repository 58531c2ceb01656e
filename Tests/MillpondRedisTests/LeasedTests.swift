import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import Testing

@Suite(.withServer) struct LeasedTests {
  let scene: RedisScene
  let origin = TestSource<Data>()

  init() throws { scene = try RedisScene() }

  /// A process: its shared cache and a composition that leases.
  private func process(_ tracking: RedisTracking = .byPrefix) throws -> Leased<
    RedisCache, FunctionSource<String, Data>
  > {
    let shared = try scene.cache("p/", tracking: tracking)
    return shared.layered(
      over: FunctionSource.signal { [origin] _ in origin.signal }, leasing: shared,
      for: .seconds(60))
  }

  @Test(arguments: [RedisTracking.byPrefix, .byKey, .off])
  func `the second process gets the value that the first one fetched`(tracking: RedisTracking)
    async throws
  {
    let (first, second) = (Recorder<Data>(), Recorder<Data>())
    first.subscribe(to: try process(tracking).get("k"))
    try await origin.subscriptions(count: 1)
    let waiting = try process(tracking)
    second.subscribe(to: waiting.get("k"))
    _ = try await waiting.flush().value
    origin.next(Data([1]))
    origin.completed()
    try await second.ended()

    #expect(first.values == [Data([1])])
    #expect(second.values == [Data([1])])
    #expect(origin.subscriptions == 1)
  }

  @Test func `after a failure, an empty end or a cancellation another process fetches`()
    async throws
  {
    for (number, ending) in ["failure", "miss", "leaving"].enumerated() {
      let (first, second) = (Recorder<Data>(), Recorder<Data>())
      first.subscribe(to: try process().get("k"))
      try await origin.subscriptions(count: 2 * number + 1)
      second.subscribe(to: try process().get("k"))
      switch ending {
      case "failure": origin.failed(CacheError.miss)
      case "miss": origin.completed()
      default: first.dispose()
      }
      try await origin.subscriptions(count: 2 * number + 2)
      origin.completed()
      try await second.ended()
    }
    #expect(origin.subscriptions == 6)
  }

  @Test func `without a server every process fetches by itself`() async throws {
    let shared = RedisCache(try Redis(.unix(path: "/nowhere/at-all")), prefix: "")
    let cache = shared.layered(
      over: FunctionSource<String, Data>.signal { _ in .just(Data([1])) }, leasing: shared)

    for _ in 0..<3 { #expect(try await cache.get("k").value == Data([1])) }
  }

  @Test func `a stored value needs no lease, and a reload waits for none`() async throws {
    let cache = try process()
    try await cache.set(Data([1]), for: "k").value
    #expect(try await cache.get("k").value == Data([1]))
    #expect(try await cache.get("other", freshness: .cachedOnly).collect().value.isEmpty)
    let holder = Recorder<Data>()
    holder.subscribe(to: try process().get("x"))
    try await origin.subscriptions(count: 1)

    let reader = Recorder<Data>()
    reader.subscribe(to: cache.get("x", freshness: .reload))
    try await origin.subscriptions(count: 2)
    origin.completed()
    try await reader.ended()
  }

  @Test(arguments: [nil, "shared"])
  func `a miss is counted once, and so is a hit after another process's fetch`(
    name: String?
  ) async throws {
    let monitors = [CacheMonitor(), CacheMonitor()]
    let readers = [Recorder<Data>(), Recorder<Data>()]
    for (monitor, reader) in zip(monitors, readers) {
      let shared = try scene.cache("p/")
      let fetched = FunctionSource<String, Data>.signal { [origin] _ in origin.signal }
      let upper = name.map { AnyCache(shared.named($0)) } ?? AnyCache(shared)
      let cache = upper.layered(over: fetched.named("origin"), leasing: shared, for: .seconds(60))
      reader.subscribe(to: cache.monitored(by: monitor).get("k"))
      if monitor === monitors[0] { try await origin.subscriptions(count: 1) }
      // So that the second process has been refused the lease.
      for _ in 0..<3 { try await shared.redisReports() }
    }
    origin.next(Data([1]))
    origin.completed()
    for reader in readers { try await reader.ended() }

    let label = name ?? "RedisCache"
    let counts = monitors.map { $0.statistics[label] }.map { [$0?.hits, $0?.misses, $0?.failures] }
    #expect(counts == [[0, 1, 0], [1, 0, 0]])
    #expect(monitors[0].statistics["origin"]?.hits == 1)
  }

  @Test func `a fetch under a lease that waits for its own key fails`() async throws {
    let shared = try scene.cache("p/")
    let whole = Locked<AnyCache<String, Data>?>(nil)
    let fetched = FunctionSource<String, Data>.signal { key in
      whole.withLock { $0 }?.get(key) ?? .empty
    }
    let cache = AnyCache(shared.layered(over: fetched, leasing: shared).reusingInFlight())
    whole.withLock { $0 = cache }

    await #expect(throws: CacheError.self) { try await cache.get("k").value }
    whole.withLock { $0 = nil }
  }

  @Test func `a failure of the server is counted once, and lasts if nothing is below`()
    async throws
  {
    let shared = RedisCache(try Redis(.unix(path: "/nowhere/at-all")), prefix: "")
    let monitor = CacheMonitor()
    let cache = shared.layered(over: EmptyCache(), leasing: shared).monitored(by: monitor)

    await #expect {
      try await cache.get("k").value
    } throws: { error in
      if case CacheError.unavailable = error { true } else { false }
    }
    #expect(monitor.statistics["RedisCache"]?.failures == 1)
    #expect(monitor.statistics["RedisCache"]?.misses == 0)
  }

  /// As if the lease had run out, and another process had it now.
  @Test func `the end of a fetch leaves the lease of another process alone`() async throws {
    let process = try process()
    let reader = Recorder<Data>()
    reader.subscribe(to: process.get("k"))
    try await origin.subscriptions(count: 1)
    try scene.server.command("SET", "lease:p/k", "of another process")

    origin.next(Data([1]))
    origin.completed()
    try await reader.ended()
    for _ in 0..<3 { _ = try await process.flush().value }

    #expect(try scene.server.command("GET", "lease:p/k") == "of another process")
  }

  @Test func `a lease ends by itself after its time`() async throws {
    let reader = Recorder<Data>()
    reader.subscribe(to: try process().get("k"))
    try await origin.subscriptions(count: 1)

    let life = try #require(Int(scene.server.command("PTTL", "lease:p/k")))
    #expect((1...60_000).contains(life))
  }

  @Test func `the lease ends when a codec in a task has stored the value`() async throws {
    let shared = try scene.cache("p/")
    let held = TestSource<Data>()
    let slow = shared.mapValues(
      Codec<Data, Data>.asynchronous(encode: { _ in try await held.signal.value }, decode: { $0 }))
    let cache = slow.layered(
      over: FunctionSource.signal { _ in .just(Data([1])) }, leasing: shared, for: .seconds(60))

    #expect(try await cache.get("k").value == Data([1]))
    try await held.subscriptions(count: 1)
    #expect(try scene.server.command("EXISTS", "lease:p/k") == "1")
    held.next(Data([2]))
    while try scene.server.command("EXISTS", "lease:p/k") == "1" { await Task.yield() }
    #expect(try scene.server.command("EXISTS", "p/k") == "1")
  }
}
