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
