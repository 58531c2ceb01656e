import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Answers of several gets of one key that reach the server together.
@Suite(.withServer, .timeLimit(.minutes(1))) struct FillOrderTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  /// Whether the key has a value before the fills.
  ///
  /// The commands to the server differ.
  enum Before: CaseIterable {
    case nothing, value
  }

  /// A value whose life is over at once.
  private let unstorable = Stamped(Data([9]), age: .zero, timeToLive: .after(.zero))

  private func cache(_ before: Before, tracking: RedisTracking = .byPrefix) async throws
    -> RedisCache
  {
    let cache = try scene.cache("p/", tracking: tracking)
    if tracking != .off { try await cache.tracks() }
    if before == .value { try await cache.set(Data([0]), for: "k").value }
    return cache
  }

  /// Begins a fill of a value that is a second old, so that none is like one that is set now.
  private func fill(_ cache: RedisCache, _ byte: UInt8, _ token: FillToken) -> Signal<Void> {
    cache.apply(.fill("k", Stamped(Data([byte]), age: .seconds(1)), token))
  }

  @Test(arguments: Before.allCases, [false, true])
  func `the later get wins when both are answered at once`(
    before: Before, isReload: Bool
  ) async throws {
    for tracking in [RedisTracking.byPrefix, .byKey, .off] {
      // Only a reload refuses what an older get brings later.
      for isInOrder in isReload ? [true, false] : [true] {
        let cache = try await cache(before, tracking: tracking)
        let earlier = FillToken(isReload: isReload)
        let later = FillToken(isReload: isReload)

        let tokens: [UInt8: FillToken] = [1: earlier, 2: later]
        let outcomes = (isInOrder ? [1, 2] : [2, 1]).map { fill(cache, $0, tokens[$0] ?? .any) }
        for outcome in outcomes { _ = try await outcome.collect().value }

        #expect(try await cache.found("k") == Data([2]), "\(tracking) \(isInOrder)")
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

  @Test(arguments: Before.allCases, [false, true])
  func `of the values that one get brings the last one is stored`(
    before: Before, areApart: Bool
  ) async throws {
    for tracking in [RedisTracking.byPrefix, .byKey, .off] {
      let cache = try await cache(before, tracking: tracking)
      let origin = TestOrigin<String, Data>()
      let got = Recorder<Data>().subscribe(
        to: cache.layered(over: origin)
          .get("k", freshness: before == .nothing ? .any : .reload))
      try await origin["k"].subscriptions(count: 1)

      for byte: UInt8 in 1...5 {
        origin["k"].next(Data([byte]))
        if areApart { try await cache.redisReports() }
      }
      origin["k"].completed()
      try await got.ended()
      try await cache.flush()

      #expect(try await cache.found("k") == Data([5]), "\(tracking)")
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

  @Test(arguments: [false, true], [RedisTracking.byPrefix, .byKey, .off])
  func `a fetched value that can't be stored leaves no older one`(
    isFull: Bool, tracking: RedisTracking
  ) async throws {
    let cache = try await cache(.value, tracking: tracking)
    let life = isFull ? TimeToLive.forever : .after(.zero)
    if isFull { try scene.server.command("CONFIG", "SET", "maxmemory", "1") }
    let renewal = FillToken().ofRenewal()
    let renewed = Stamped(Data([1]), age: .zero, timeToLive: life)
    _ = try? await cache.apply(.fill("k", renewed, renewal)).collect().value
    #expect(try await cache.found("k") == Data([0]))

    _ = try? await cache.apply(.fill("k", renewed, FillToken())).collect().value

    try scene.server.command("CONFIG", "SET", "maxmemory", "0")
    #expect(try await cache.found("k") == nil)
  }

  @Test(arguments: Before.allCases, [RedisTracking.byPrefix, .byKey, .off])
  func `of an older get nothing stays when the later one's value can't be stored`(
    before: Before, tracking: RedisTracking
  ) async throws {
    for isAtOnce in [true, false] {
      let cache = try await cache(before, tracking: tracking)
      let (earlier, later) = (FillToken(), FillToken())

      let first = fill(cache, 1, earlier)
      if !isAtOnce {
        _ = try await first.collect().value
        try await cache.redisReports()
      }
      let second = cache.apply(.fill("k", unstorable, later))
      for outcome in [first, second] { _ = try await outcome.collect().value }

      #expect(try await cache.found("k") == nil)
      try await cache.removeAll().value
    }
  }

  @Test(arguments: Before.allCases, [RedisTracking.byPrefix, .off])
  func `a reload whose value can't be stored refuses the answer of an older get`(
    before: Before, tracking: RedisTracking
  ) async throws {
    let cache = try await cache(before, tracking: tracking)
    let (earlier, later) = (FillToken(), FillToken(isReload: true))

    _ = try await cache.apply(.fill("k", unstorable, later)).collect().value
    _ = try await fill(cache, 1, earlier).collect().value

    #expect(try await cache.found("k") == nil)
  }

  @Test func `a fetched value that can't be stored removes nothing that was written later`()
    async throws
  {
    let cache = try await cache(.value)
    let other = try scene.cache("p/")
    let (earlier, later) = (FillToken(), FillToken())
    try await other.set(Data([3]), for: "k").value

    _ = try await cache.apply(.fill("k", unstorable, earlier)).collect().value
    #expect(try await cache.found("k") == Data([3]))

    let set = cache.set(Data([4]), for: "k")
    _ = try await cache.apply(.fill("k", unstorable, later)).collect().value
    try await set.value
    #expect(try await cache.found("k") == Data([4]))
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

  /// Equal values, which in the plain form nothing tells apart.
  @Test(arguments: [RedisForm.stamped, .plain])
  func `a set of the value that an older get has brought is kept`(form: RedisForm) async throws {
    let cache = try scene.cache("p/", form: form)
    let other = try scene.cache("p/", form: form)
    for writer in [cache, other] {
      try await cache.tracks()
      let (earlier, later) = (FillToken(), FillToken())
      _ = try await fill(cache, 1, earlier).collect().value
      try await writer.set(Data([1]), for: "k").value

      _ = try await fill(cache, 2, later).collect().value

      #expect(try await cache.found("k") == Data([1]))
      try await cache.removeAll().value
    }
  }

  @Test(arguments: [false, true])
  func `what was removed, and set again, is not replaced by an older get`(
    isByPredicate: Bool
  ) async throws {
    let cache = try scene.cache("p/", form: .plain)
    try await cache.tracks()
    let (earlier, later) = (FillToken(), FillToken())
    _ = try await fill(cache, 1, earlier).collect().value
    let removal = isByPredicate ? cache.removeAll { $0 == "k" } : cache.removeAll()
    let late = fill(cache, 2, later)
    try await removal.value
    _ = try await late.collect().value
    #expect(try await cache.found("k") == nil)

    try await cache.set(Data([1]), for: "k").value
    _ = try await fill(cache, 2, later).collect().value
    #expect(try await cache.found("k") == Data([1]))
  }

  /// The renewed value is from before the reload.
  @Test func `a renewal does not replace the answer of a reload`() async throws {
    let cache = try await cache(.value)
    let stored = fill(cache, 1, FillToken(isReload: true))
    // Reads the former value before the reload's command is sent.
    let renewed = cache.setTimeToLive(.after(.seconds(60)), for: "k")
    _ = try await stored.collect().value
    _ = try await renewed.value

    #expect(try await cache.found("k") == Data([1]))
  }

  @Test(arguments: Before.allCases)
  func `a renewal does not replace what a later get has stored`(before: Before) async throws {
    let cache = try await cache(before)
    let renewal = FillToken().ofRenewal()

    _ = try await fill(cache, 2, FillToken()).collect().value
    _ = try await fill(cache, 1, renewal).collect().value

    #expect(try await cache.found("k") == Data([2]))
  }

  @Test(arguments: Before.allCases)
  func `the last of three gets that are answered at once wins`(before: Before) async throws {
    for order in [[1, 2, 3], [2, 1, 3]] as [[UInt8]] {
      let cache = try await cache(before)
      let first = FillToken()
      let tokens = [FillToken(), FillToken(), FillToken()]
      _ = try await fill(cache, 0, first).collect().value

      let outcomes = order.map { fill(cache, $0, tokens[Int($0) - 1]) }
      for outcome in outcomes { _ = try await outcome.collect().value }

      #expect(try await cache.found("k") == Data([3]))
      try await cache.removeAll().value
    }
  }
}
