import Foundation
import Millpond
import MillpondRedis

/// A client with memory that follows, as a process has one; a ``CoherenceRun`` has several.
struct CoherenceNode: Sendable {
  let name: String
  let redis: Redis
  let cache: AnyCache<String, Data>

  /// The name of a user of the server that may only read the keys that begin with `x`.
  static let reader = "reader"

  /// The key of a number.
  static func name(of key: Int) -> String { "k\(key)" }

  /// Writes a key in one of the ways.
  func write(_ key: Int, _ kind: SharedVersions.Kind, _ value: CoherentValue) -> Signal<Void> {
    let name = Self.name(of: key)
    return switch kind {
    case .set: cache.set(value.data, for: name)
    case .removal: cache.remove(name)
    case .removalByPredicate: cache.removeAll { $0 == name }
    case .removalOfAll: cache.removeAll()
    }
  }

  /// Returns a node for each way of tracking.
  static func nodes(
    _ address: RedisAddress, _ versions: SharedVersions, process number: Int
  ) throws -> [CoherenceNode] {
    try [RedisTracking.byPrefix, .byKey].map { tracking in
      let redis = try Redis(
        address, username: reader, connections: 1 + number % 2, tracking: tracking)
      return CoherenceNode(
        redis, RedisCache(redis, prefix: "run/"), "\(tracking)", versions, leases: number % 2 == 0,
        reuses: number < 3, isSlow: number > 0 && (tracking == .byKey) == (number < 2),
        readsInBulk: number == 3)
    }
  }

  private init(
    _ redis: Redis, _ shared: RedisCache, _ tracking: String, _ versions: SharedVersions,
    leases: Bool, reuses: Bool, isSlow: Bool, readsInBulk: Bool
  ) {
    let parts = ["leased": leases, "reused": reuses, "slow": isSlow, "in bulk": readsInBulk]
    name = ([tracking] + parts.filter(\.value).map(\.key).sorted()).joined(separator: " ")
    self.redis = redis
    let origin = FunctionSource<String, Data>.signal { key in
      .async { await Self.fetch(key, from: versions, redis) }
    }
    let stored =
      readsInBulk
      ? AnyCache(HeldUpSets(base: shared, reads: shared.bulk.batching(window: .zero, max: 8)))
      : AnyCache(HeldUpSets(base: shared, reads: shared))
    let values = isSlow ? AnyCache(stored.mapValues(Self.later)) : stored
    let below =
      leases
      ? AnyCache(values.layered(over: origin, leasing: shared))
      : AnyCache(values.layered(over: origin))
    let whole = MemoryCache<String, Data>(countLimit: 1_000).following(shared).layered(over: below)
    cache = reuses ? AnyCache(whole.reusingInFlight()) : AnyCache(whole)
  }

  /// Reads the version, and answers a random number of round trips later, or of times longer than
  /// the mark of a removal lasts.
  private static func fetch(
    _ key: String, from versions: SharedVersions, _ redis: Redis
  ) async -> Data {
    guard let number = Int(key.dropFirst()), key.hasPrefix("k") else {
      return CoherentValue(version: 0, isSet: false).data
    }
    let version = versions.present(number)
    for _ in 0..<Int.random(in: 0...8) { _ = try? await redis.ping().value }
    if Int.random(in: 0..<5_000) == 0 { try? await Task.sleep(for: .seconds(1.2)) }
    return CoherentValue(version: version, isSet: false).data
  }

  private static var later: Codec<Data, Data> {
    .asynchronous(
      encode: { value in
        for _ in 0..<Int.random(in: 0...4) { await Task.yield() }
        return value
      },
      decode: { data in
        for _ in 0..<Int.random(in: 0...4) { await Task.yield() }
        return data
      })
  }
}

/// A cache that sometimes holds up a set, as the system does with a thread.
private struct HeldUpSets<Base: Cache, Reads: Source<Base.Key, Base.Value>>: Cache {
  typealias Key = Base.Key
  typealias Value = Base.Value

  let base: Base

  /// What is asked.
  let reads: Reads

  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> { reads.get(key, lookup) }

  func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    reads.answers(key, lookup)
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    if case .set = change { for _ in 0..<Int.random(in: 0...20) { sched_yield() } }
    return base.apply(change)
  }
}
