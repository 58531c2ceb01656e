import Foundation
import Millpond
import MillpondRedis

/// A random program of one process over a server that other processes use in the same way.
///
/// The law: once a write is known to have succeeded, and a round trip of the reader's connection
/// later, no get returns an older version; nor does one of the writer at once. What the server has
/// refused is not found by then. A write that fails otherwise may have been carried out or not.
struct CoherenceRun: Sendable {
  /// What a run has seen.
  struct Findings: Sendable {
    var gets = 0
    var wrong: [String] = []

    mutating func add(_ other: Findings) {
      gets += other.gets
      wrong += other.wrong
    }
  }

  let versions: SharedVersions
  private let nodes: [CoherenceNode]

  /// The number of programs that run at the same time.
  private static let lanes = 6

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - address: The address of the server.
  ///   - path: The path of the file with the versions.
  ///   - number: The number of the process, which decides what its caches are made of.
  init(_ address: RedisAddress, versions path: String, process number: Int) throws {
    let versions = try SharedVersions(path)
    self.versions = versions
    nodes = try CoherenceNode.nodes(address, versions, process: number)
  }

  /// Carries out so many steps, several at a time.
  func findings(steps: Int) async -> Findings {
    await withTaskGroup(of: Findings.self) { group in
      for lane in 0..<Self.lanes {
        group.addTask {
          var findings = Findings()
          for _ in 0..<steps { await step(&findings, of: lane) }
          return findings
        }
      }
      return await group.reduce(into: Findings()) { $0.add($1) }
    }
  }

  private func step(_ findings: inout Findings, of lane: Int) async {
    let key = Int.random(in: 0..<SharedVersions.keyCount)
    let node = nodes[Int.random(in: 0..<nodes.count)]
    switch Int.random(in: 0..<400) {
    case 0..<40: await write(key, .set, through: [node], &findings)
    case 40..<60: await write(key, .removal, through: [node], &findings)
    case 60..<70: await write(key, .set, through: nodes.shuffled(), &findings)
    case 70..<80: await write(key, .removalByPredicate, through: [node], &findings)
    case 80..<84: await removeAll(through: node, &findings)
    case 84..<90: await writeInVain(node, "x\(lane)", &findings)
    case 90..<110: await reload(key, from: node, &findings)
    default: await read(node, &findings)
    }
  }

  /// Gets several keys a round trip after what is known of them.
  private func read(_ node: CoherenceNode, _ findings: inout Findings) async {
    let keys = (0..<1 << Int.random(in: 0...4)).map { _ in
      Int.random(in: 0..<SharedVersions.keyCount)
    }
    let losses = versions.lossMarks
    let known = keys.map { (known: versions.known($0), refused: versions.refused($0)) }
    guard (try? await node.redis.ping().value) != nil else { return }
    for (key, (known, refused)) in zip(keys, known) {
      let what = "a get a round trip after a write"
      await get(key, from: node, known, refused, what, since: losses, &findings)
    }
  }

  /// Gets a key from the origin, whatever is stored.
  private func reload(
    _ key: Int, from node: CoherenceNode, _ findings: inout Findings
  ) async {
    let known = versions.known(key)
    let get = node.cache.get(CoherenceNode.name(of: key), freshness: .reload)
    guard let found = (try? await get.value).map({ CoherentValue($0) }) else { return }
    findings.gets += 1
    if found.version < known { findings.wrong.append("a reload: \(found) instead of \(known)") }
  }

  /// Writes a new version through each node, one after the other.
  private func write(
    _ key: Int, _ kind: SharedVersions.Kind, through nodes: [CoherenceNode],
    _ findings: inout Findings
  ) async {
    guard versions.tryToLock(key) else { return }
    defer { versions.unlock(key) }
    let losses = versions.lossMarks
    // Before the cache is written, as programs do; nobody waits for the earlier ones of several.
    let last = versions.add(nodes.count, to: key)
    for (place, node) in nodes.enumerated() {
      let version = last - nodes.count + 1 + place
      do {
        try await node.write(key, kind, CoherentValue(version: version, isSet: true)).value
      } catch {
        if "\(error)".contains("the server answered") { versions.setRefused(version, key) }
        return
      }
    }
    versions.setKnown(last, key, by: kind)
    guard let node = nodes.last else { return }
    await get(key, from: node, last, 0, "an own write", since: losses, &findings)
  }

  private func removeAll(through node: CoherenceNode, _ findings: inout Findings) async {
    let keys = Array(0..<SharedVersions.keyCount)
    let locked = keys.prefix { versions.tryToLock($0) }
    defer { for key in locked { versions.unlock(key) } }
    if locked.count < keys.count { return }
    let (losses, last) = (versions.lossMarks, keys.map { versions.add(1, to: $0) })
    guard (try? await node.cache.removeAll().value) != nil else { return }
    for (key, version) in zip(keys, last) {
      versions.setKnown(version, key, by: .removalOfAll)
      await get(key, from: node, version, 0, "a removal of all", since: losses, &findings)
    }
  }

  /// Gets a key, which must not be older than what is known.
  ///
  /// While the server throws values away, an older one may be there, but does not stay.
  private func get(
    _ key: Int, from node: CoherenceNode, _ known: Int, _ refused: Int, _ what: String,
    since losses: Int, _ findings: inout Findings
  ) async {
    let name = CoherenceNode.name(of: key)
    for attempt in 0..<1_000 {
      guard let found = (try? await node.cache.get(name).value).map({ CoherentValue($0) })
      else { return }
      if attempt == 0 { findings.gets += 1 }
      if found.version >= known, !found.isSet || found.version != refused { return }
      let isLossy = versions.lossMarks != losses || !losses.isMultiple(of: 2)
      if isLossy, attempt < 999, (try? await node.redis.ping().value) != nil { continue }
      findings.wrong.append(
        """
        \(what), \(node.name): \(found) of \(name), not \(known) or later (a \(versions.kind(key))), \
        \(refused) was refused
        """)
      return
    }
  }

  /// Sets what the server refuses: it must not be found afterwards.
  private func writeInVain(
    _ node: CoherenceNode, _ key: String, _ findings: inout Findings
  ) async {
    let set = node.cache.set(CoherentValue(version: -1, isSet: true).data, for: key)
    guard (try? await set.value) == nil else { return }
    guard let found = try? await node.cache.get(key).value else { return }
    findings.gets += 1
    if CoherentValue(found).isSet {
      findings.wrong.append("a get after a refused set, \(node.name): its value")
    }
  }
}

/// A value with its version, and whether a cache was told to set it, or an origin answered it.
struct CoherentValue: Sendable, CustomStringConvertible {
  var version: Int
  var isSet: Bool

  init(version: Int, isSet: Bool) { (self.version, self.isSet) = (version, isSet) }

  init(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    isSet = text.hasSuffix("s")
    version = Int(text.dropLast()) ?? -1
  }

  var data: Data { Data(description.utf8) }

  var description: String { "\(version)\(isSet ? "s" : "o")" }
}
