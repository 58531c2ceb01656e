import Foundation
import Millpond
import MillpondRedis

/// A random program of one process over a server that other processes use in the same way.
///
/// The keys have versions, which a database of its own gives them, one write of a key after the
/// other. A get that begins a round trip after the end of a write has been made known must not
/// return an older version, and neither must one of the process that made the write.
struct CoherenceRun: Sendable {
  /// A client with memory, as a process has one; a run has two.
  private struct Node: Sendable {
    let redis: Redis
    let cache: AnyCache<String, Data>
  }

  /// What a run has seen.
  struct Findings: Sendable {
    var gets = 0
    var wrong: [String] = []

    mutating func add(_ other: Findings) {
      gets += other.gets
      wrong += other.wrong
    }
  }

  private let nodes: [Node]
  private let database: RedisCache

  /// The value of sets that the server refuses.
  private static let refused = Data("refused".utf8)

  /// The name of a user of the server that may only read the keys that begin with `x`.
  static let reader = "reader"

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - port: The port of the server.
  ///   - databasePort: The port of another server, which has the versions.
  init(port: UInt16, databasePort: UInt16) throws {
    let database = RedisCache(
      try Redis(
        .tcp(host: "127.0.0.1", port: databasePort), deadline: .seconds(60), tracking: .off),
      prefix: "", form: .plain)
    self.database = database
    nodes = try [RedisTracking.byPrefix, .byKey].map { tracking in
      let redis = try Redis(
        .tcp(host: "127.0.0.1", port: port), username: Self.reader, deadline: .seconds(60),
        tracking: tracking)
      let shared = RedisCache(redis, prefix: "run/")
      let fetched = FunctionSource<String, Data>.signal { key in
        .async { try await Self.fetch(key, from: database) }
      }
      let below = HeldUpSets(base: shared).layered(over: fetched)
      let memory = MemoryCache<String, Data>(countLimit: 1_000)
      let cache = memory.following(shared).layered(over: below).reusingInFlight()
      return Node(redis: redis, cache: AnyCache(cache))
    }
  }

  /// Reads the version, and answers a random number of round trips later.
  private static func fetch(_ key: String, from database: RedisCache) async throws -> Data {
    let version = try await version("v", key, of: database)
    for _ in 0..<Int.random(in: 0...8) { try await database.redis.ping().value }
    return Data("\(version)".utf8)
  }

  private static func version(
    _ kind: String, _ key: String, of database: RedisCache
  ) async throws -> Int {
    for try await data in database.get("\(kind)/\(key)").values { return number(data) }
    return 0
  }

  private static func number(_ data: Data) -> Int {
    Int(String(decoding: data, as: UTF8.self)) ?? -1
  }

  /// Carries out so many steps, several at a time.
  func findings(steps: Int) async throws -> Findings {
    for node in nodes { while !node.redis.isTracking { try await node.redis.ping().value } }
    return try await withThrowingTaskGroup(of: Findings.self) { group in
      for number in 0..<6 {
        group.addTask {
          var findings = Findings()
          for _ in 0..<steps { try await step(&findings, of: number) }
          return findings
        }
      }
      return try await group.reduce(into: Findings()) { $0.add($1) }
    }
  }

  private func step(_ findings: inout Findings, of number: Int) async throws {
    let key = "k\(Int.random(in: 0..<4))"
    let node = nodes[Int.random(in: 0..<nodes.count)]
    switch Int.random(in: 0..<10) {
    case 0: try await write([node], key, &findings) { $0.set($1, for: key) }
    case 1, 2: try await write([node], key, &findings) { cache, _ in cache.remove(key) }
    case 3, 4: try await write(nodes.shuffled(), key, &findings) { $0.set($1, for: key) }
    case 5: try await writeInVain(node, "x\(number)", &findings)
    default:
      let known = try await Self.version("d", key, of: database)
      try await node.redis.ping().value
      try await get(key, from: node, known, "a get a round trip after a write", &findings)
    }
  }

  /// Writes a new version through each node, one after the other.
  private func write(
    _ nodes: [Node], _ key: String, _ findings: inout Findings,
    _ change: (AnyCache<String, Data>, Data) -> Signal<Void>
  ) async throws {
    let isAlone = try await database.setIfAbsent(Data(), for: "w/\(key)").value
    guard isAlone else { return }
    var version = try await Self.version("v", key, of: database)
    // Before the cache is written, as programs do; nobody waits for the earlier ones of several.
    let last = version + nodes.count
    try await database.set(Data("\(last)".utf8), for: "v/\(key)").value
    for node in nodes {
      version += 1
      try await change(node.cache, Data("\(version)".utf8)).value
    }
    try await database.set(Data("\(last)".utf8), for: "d/\(key)").value
    if let node = nodes.last { try await get(key, from: node, last, "an own write", &findings) }
    try await database.remove("w/\(key)").value
  }

  private func get(
    _ key: String, from node: Node, _ known: Int, _ what: String, _ findings: inout Findings
  ) async throws {
    let found = Self.number(try await node.cache.get(key).value)
    findings.gets += 1
    if found < known { findings.wrong.append("\(what): \(found) instead of \(known)") }
  }

  /// Sets what the server refuses: it must not be found afterwards.
  private func writeInVain(
    _ node: Node, _ key: String, _ findings: inout Findings
  ) async throws {
    let set = node.cache.set(Self.refused, for: key)
    guard (try? await set.value) == nil else { return }
    let found = try await node.cache.get(key).value
    findings.gets += 1
    if found == Self.refused { findings.wrong.append("a get after a refused set: its value") }
  }
}

/// A cache that sometimes holds up a set, as the system does with a thread.
private struct HeldUpSets<Base: Cache>: Cache {
  typealias Key = Base.Key
  typealias Value = Base.Value

  let base: Base

  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> { base.get(key, lookup) }

  func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    base.answers(key, lookup)
  }

  func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    if case .set = change { for _ in 0..<Int.random(in: 0...20) { sched_yield() } }
    return base.apply(change)
  }
}
