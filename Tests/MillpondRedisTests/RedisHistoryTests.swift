import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import RandomHistories
import Synchronization
import TestTraits
import Testing

/// Random programs over compositions on a server, judged by the order of the calls.
@Suite(.withServer, .heavy) struct RedisHistoryTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  @Test func `no composition over a server shows what no order of the calls allows`() async {
    await expect(.general)
  }

  @Test func `sets, removals and reloads that meet while codecs are slow keep their order`() async {
    await expect(.overtaking)
  }

  @Test func `what a predicate removed does not come back, and nothing else goes`() async {
    await expect(.selecting)
  }

  @Test func `a set is kept whatever else is written meanwhile`() async {
    await expect(.crowds)
  }

  @Test func `after a sign-out nothing is fetched for earlier callers`() async {
    await expect(.signingOut)
  }

  private func expect(
    _ mix: HistoryStepMix, location: SourceLocation = #_sourceLocation
  ) async {
    let server = scene.server
    let check = HistoryCheck<String, String>(
      key: Self.key, value: Self.value, mix: mix, timeLimit: .seconds(2)
    ) { DrawnShared($0, server).make() }
    let count = Self.count
    let failures =
      await check.failures(seeds: 0..<count)
      + check.failures(seeds: count..<count + count / 2, threads: 3)
      + check.failures(seeds: count..<count + count / 2, threads: 3, underLock: true)
    for failure in failures { Issue.record("\(failure)", sourceLocation: location) }
  }

  /// The key of a number; of every fourth an equal text of other bytes at every other call.
  @Sendable private static func key(_ number: Int) -> String {
    if number % 4 != 0 { return "k\(number)" }
    return calls.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: 2)
      ? "cl\u{E9}\(number)" : "cle\u{301}\(number)"
  }

  private static let calls = Atomic(0)

  /// A value; one of many is larger than the buffers of a connection, up to 8 MiB.
  @Sendable private static func value(_ key: String, _ number: Int) -> String {
    var random = SeededGenerator(seed: UInt64(bitPattern: Int64(number)))
    let magnitude = Int.random(in: 0..<4_000, using: &random)
    let size = magnitude > 23 ? 0 : Int.random(in: 0...1 << magnitude, using: &random)
    return "\(key)#\(number)" + String(repeating: "-", count: size)
  }

  /// The number of programs: more if the environment says so.
  private static let count =
    ProcessInfo.processInfo.environment["MILLPOND_HISTORIES"].flatMap(UInt64.init) ?? 4
}

/// A composition over a server that is drawn at random by the seed of a scene.
private struct DrawnShared {
  typealias Scene = HistoryScene<String, String>

  let scene: Scene
  let server: LocalRedis
  let connections: Int
  let tracking: RedisTracking
  let hasMemory: Bool
  let leases: Bool
  let isScoped: Bool
  let isSlow: Bool

  init(_ scene: Scene, _ server: LocalRedis) {
    var generator = SeededGenerator(seed: scene.seed ^ 0x5EED)
    self.scene = scene
    self.server = server
    connections = .random(in: 1...2, using: &generator)
    tracking = [.byPrefix, .byPrefix, .byKey, .off].randomElement(using: &generator) ?? .byPrefix
    hasMemory = .random(using: &generator)
    leases = .random(using: &generator)
    isScoped = .random(using: &generator)
    isSlow = .random(using: &generator)
  }

  func make() -> AnyCache<String, String> {
    scene.says(
      "[\(connections) connections, \(tracking), memory \(hasMemory), leases \(leases),"
        + " scoped \(isScoped), slow \(isSlow)]")
    // Answers come on the threads of the clients.
    scene.answersElsewhere = true
    if isScoped { scene.isScoped = true }
    let redis = client()
    let shared = RedisCache(redis, prefix: scene.name + "/")
    let values = isSlow ? shared.mapValues(later) : shared.mapValues(Self.text)
    var cache =
      leases
      ? AnyCache(values.layered(over: scene.origin, leasing: shared, for: .seconds(60)))
      : AnyCache(values.layered(over: scene.origin))
    if hasMemory {
      let memory = MemoryCache<String, String>(countLimit: 1_000, clock: scene.clock)
      cache = AnyCache(memory.following(shared).layered(over: cache))
    }
    cache = AnyCache(cache.reusingInFlight(clock: scene.clock))
    // A ping waits for writes after the end of a get.
    scene.closings.append { redis.ping().onEnd { _ in redis.close() } }
    return isScoped ? AnyCache(cache.scoped(to: scene.scope)) : cache
  }

  private func client() -> Redis {
    do {
      return try Redis(
        .tcp(host: "127.0.0.1", port: server.port), connections: connections,
        deadline: .seconds(30), heartbeat: .seconds(30), tracking: tracking)
    } catch {
      preconditionFailure("no descriptors are left: \(error)")
    }
  }

  private static var text: Codec<Data, String> {
    Codec(encode: { Data($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
  }

  private var later: Codec<Data, String> {
    .asynchronous(
      encode: { [scene] value in
        await scene.takesTime()
        return Data(value.utf8)
      }, decode: { String(decoding: $0, as: UTF8.self) })
  }
}
