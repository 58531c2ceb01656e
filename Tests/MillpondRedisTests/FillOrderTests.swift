import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondSignals
import Testing

/// Answers of several gets of one key that reach the server together.
@Suite(.withServer, .timeLimit(.minutes(1))) struct FillOrderTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  /// What the key has before: the server carries out a fill over nothing in another way.
  enum Before: CaseIterable {
    case nothing, value
  }

  private func cache(_ before: Before, tracking: RedisTracking = .byPrefix) async throws
    -> RedisCache
  {
    let cache = try scene.cache("p/", tracking: tracking)
    if tracking != .off { try await cache.tracks() }
    if before == .value { try await cache.set(Data([0]), for: "k").value }
    return cache
  }

  /// Begins a fill.
  private func fill(_ cache: RedisCache, _ byte: UInt8, _ token: FillToken) -> Signal<Void> {
    cache.apply(.fill("k", Stamped(Data([byte])), token))
  }

  @Test(arguments: Before.allCases, [false, true])
  func `the later get wins when both are answered at once`(
    before: Before, isReload: Bool
  ) async throws {
    for tracking in [RedisTracking.byPrefix, .byKey, .off] {
      for isInOrder in [true, false] {
        let cache = try await cache(before, tracking: tracking)
        let earlier = FillToken(isReload: isReload)
        let later = FillToken(isReload: isReload)

        let tokens: [UInt8: FillToken] = [1: earlier, 2: later]
        let outcomes = (isInOrder ? [1, 2] : [2, 1]).map { fill(cache, $0, tokens[$0] ?? .any) }
        for outcome in outcomes { _ = try await outcome.collect().value }

        #expect(try await cache.found("k") == Data([2]))
        try await cache.removeAll().value
      }
    }
  }

  @Test(arguments: Before.allCases, [false, true])
  func `the later get wins when it is answered after the other one is stored`(
    before: Before, isReload: Bool
  ) async throws {
    for tracking in [RedisTracking.byPrefix, .byKey, .off] {
      let cache = try await cache(before, tracking: tracking)
      let earlier = FillToken(isReload: isReload)
      let later = FillToken(isReload: isReload)

      _ = try await fill(cache, 1, earlier).collect().value
      try await cache.redisReports()
      _ = try await fill(cache, 2, later).collect().value

      #expect(try await cache.found("k") == Data([2]))
      try await cache.removeAll().value
    }
  }

  @Test func `a reload refuses the answer of an older get once it is stored`() async throws {
    let cache = try await cache(.value)
    let earlier = FillToken()
    let later = FillToken(isReload: true)

    _ = try await fill(cache, 2, later).collect().value
    _ = try await fill(cache, 1, earlier).collect().value

    #expect(try await cache.found("k") == Data([2]))
  }

  @Test(arguments: Before.allCases)
  func `what another process writes between two answers stays`(before: Before) async throws {
    let cache = try await cache(before)
    let other = try scene.cache("p/")
    let earlier = FillToken()
    let later = FillToken()

    _ = try await fill(cache, 1, earlier).collect().value
    try await other.set(Data([3]), for: "k").value
    _ = try await fill(cache, 2, later).collect().value
    #expect(try await cache.found("k") == Data([3]))

    try await other.remove("k").value
    _ = try await fill(cache, 2, later).collect().value
    try await cache.redisReports()
    #expect(try await cache.found("k") == nil)
  }

  @Test(arguments: Before.allCases)
  func `what this process writes between two answers stays`(before: Before) async throws {
    let cache = try await cache(before)
    let earlier = FillToken()
    let later = FillToken()

    _ = try await fill(cache, 1, earlier).collect().value
    let set = cache.set(Data([3]), for: "k")
    _ = try await fill(cache, 2, later).collect().value
    try await set.value
    #expect(try await cache.found("k") == Data([3]))

    let removal = cache.remove("k")
    _ = try await fill(cache, 2, later).collect().value
    try await removal.value
    #expect(try await cache.found("k") == nil)
  }
}
