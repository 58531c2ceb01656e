import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import Testing

@Suite(.withServer) struct RedisRemovalTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  @Test(arguments: [1, 3])
  func `a removal of all keeps to its prefix, whatever characters that has`(connections: Int)
    async throws
  {
    for key in ["a*/x", "ab/x", "a?", "[a]x", "\\", "[\u{301}a]x"] {
      try scene.server.command("SET", key, "1")
    }
    let cache = try scene.cache("a*/", connections: connections, form: .plain)
    for number in 0..<2_000 { cache.set(Data(), for: "\(number)") }

    try await cache.removeAll().value

    #expect(
      try Set(scene.server.command("KEYS", "*").split(separator: "\n")) == [
        "ab/x", "a?", "[a]x", "\\", "[\u{301}a]x",
      ])
    for prefix in ["[a]", "\\", "a?", "[\u{301}a]"] {
      try await scene.cache(prefix, connections: connections).removeAll().value
    }
    #expect(try scene.server.command("KEYS", "*") == "ab/x")
  }

  @Test(arguments: [1, 3]) func `gets miss at once, and later sets stay`(connections: Int)
    async throws
  {
    let cache = try scene.cache("a/", connections: connections)
    for number in 0..<3_000 { cache.set(Data([1]), for: "\(number)") }

    let outcome = cache.removeAll()
    for number in 0..<100 { cache.set(Data([2]), for: "\(number)") }
    for number in 0..<200 {
      #expect(try await cache.found("\(number)") == (number < 100 ? Data([2]) : nil))
    }
    try await outcome.value

    #expect(try scene.server.command("DBSIZE") == "100")
    #expect(try await cache.found("99") == Data([2]))
  }

  @Test func `a removal by predicate removes those keys only`() async throws {
    let cache = try scene.cache("a/", connections: 2)
    for number in 0..<1_000 { cache.set(Data(), for: "\(number)") }

    try await cache.removeAll { $0.hasSuffix("7") }.value

    #expect(try scene.server.command("DBSIZE") == "900")
    #expect(try await cache.found("17") == nil)
    #expect(try await cache.found("18") == Data())
  }

  @Test func `the end of a scope covers the prefix`() async throws {
    let scope = CacheScope()
    let cache = try scene.cache("user/7/").scoped(to: scope)
    try await cache.set(Data([1]), for: "k").value
    try scene.server.command("SET", "user/8/k", "1")

    try await scope.end().value

    #expect(try scene.server.command("KEYS", "*") == "user/8/k")
  }

  @Test func `a fill of a get from before a removal or a set is refused`() async throws {
    let cache = try scene.cache()
    // Otherwise the beginning of the reports refuses the fills.
    try await cache.flush().value
    let origin = TestSource<Data>()
    let layered = cache.layered(over: FunctionSource.signal { _ in origin.signal })
    for (key, change) in [("a", 0), ("b", 1), ("c", 2)] {
      let waiting = Recorder<Data>()
      waiting.subscribe(to: layered.get(key))
      try await cache.redisAnswered()
      switch change {
      case 0: cache.removeAll()
      case 1: _ = cache.removeAll { $0 == "b" }
      default: cache.set(Data([9]), for: key)
      }
      origin.next(Data([1]))
    }
    try await cache.flush().value

    #expect(try await cache.found("a") == nil)
    #expect(try await cache.found("b") == nil)
    #expect(try await cache.found("c") == Data([9]))
  }

  /// As when another thread has taken the revision of its removal, and comes to the cache later.
  @Test func `a removal that is overtaken by a set that stores nothing removes the value`()
    async throws
  {
    let cache = try scene.cache("p/")
    for key in ["a", "b"] { try await cache.set(Data([1]), for: key).value }
    let revision = Revision.next()
    scene.server.pause()
    let isStored = cache.setIfAbsent(Data([2]), for: "a")
    let removal = cache.apply(.removeAll(revision))
    scene.server.resume()
    try await removal.value

    #expect(try await isStored.value == false)
    #expect(try await cache.found("a") == nil)

    let second = Revision.next()
    try scene.server.command("CONFIG", "SET", "maxmemory", "1")
    scene.server.pause()
    let failing = cache.set(Data([3]), for: "b")
    let later = cache.apply(.removeMatching(KeyPredicate { $0 == "b" }, second))
    scene.server.resume()
    try await later.value

    #expect((try? await failing.value) == nil)
    #expect(try await cache.found("b") == nil)
  }

  @Test(arguments: [RedisTracking.byPrefix, .byKey])
  func `a removal removes what a set that stores nothing did not replace`(
    tracking: RedisTracking
  ) async throws {
    let cache = try scene.cache("p/", tracking: tracking)
    for key in ["a", "b"] { try await cache.set(Data([1]), for: key).value }

    scene.server.pause()  // so that the removal has not reached the key
    let removal = cache.removeAll()
    let areStored = [2, 3].map { cache.setIfAbsent(Data([$0]), for: "a") }
    scene.server.resume()
    try await removal.value

    #expect(try await [areStored[0].value, areStored[1].value] == [true, false])
    #expect(try await cache.found("a") == Data([2]))

    try await cache.set(Data([1]), for: "b").value
    try scene.server.command("CONFIG", "SET", "maxmemory", "1")
    scene.server.pause()
    let second = cache.removeAll()
    let set = cache.set(Data([3]), for: "b")
    scene.server.resume()
    try await second.value

    // What the removal gives free is room for it, though the server is full.
    try await set.value
    #expect(try await cache.found("b") == Data([3]))
  }

  /// The fill and what follows are on their way together.
  @Test func `a set after a fill is kept, whatever is written before the fill is confirmed`()
    async throws
  {
    let cache = try scene.cache()
    try await cache.flush().value
    let origin = TestSource<Data>()
    let reader = Recorder<Data>()
    let fetched = FunctionSource<String, Data>.signal { _ in origin.signal }
    reader.subscribe(to: cache.layered(over: fetched).get("k"))
    try await origin.subscriptions(count: 1)
    scene.server.pause()
    origin.next(Data([1]))
    cache.set(Data([2]), for: "k")
    for number in 0..<3_000 { cache.set(Data(), for: "\(number)") }
    scene.server.resume()
    try await cache.flush().value
    try await cache.flush().value

    #expect(try await cache.found("k") == Data([2]))
  }
}

extension RedisCache {
  /// Waits until the gets that were made before are answered.
  fileprivate func redisAnswered() async throws { _ = try await contains("-").value }
}
