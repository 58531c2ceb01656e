import Foundation
import LocalRedis
import TestTraits
import Testing

@testable import MillpondRedis

/// Four processes with memory over one server, to which happens what happens to servers.
@Suite(.withServer, .heavy) struct CoherenceLawTests {
  private let server: LocalRedis
  private let processes: CoherentProcesses

  init() throws {
    server = try LocalRedis(CoherentProcesses.users)
    processes = try CoherentProcesses("run", server)
  }

  /// What happens to a server.
  enum Event: CaseIterable {
    case full, evicting, readOnly, tracksOneKey, flushed, killsClients, restarts, stopsForAWhile

    /// Whether the server throws away what it was given.
    var losesValues: Bool { [.evicting, .flushed, .restarts].contains(self) }

  }

  @Test func `no get is older than a write known a round trip ago, whatever happens`() throws {
    let least = CoherentProcesses.leastGets
    var (gets, counts, losesValues) = (0, [Event: Int](), false)
    repeat {
      for event in Event.allCases.shuffled() {
        gets += try processes.gotten()
        if event.losesValues != losesValues { try processes.markLosses() }
        losesValues = event.losesValues
        try begin(event, &gets)
        try processes.sendPortion()
        gets += try processes.gotten()
        try end(event)
        try processes.sendPortion()
        counts[event, default: 0] += 1
      }
    } while gets < least ?? 0

    if least != nil { print("\(gets) strict gets, none stale, while: \(counts)") }
    #expect(gets > 0)
  }

  private func begin(_ event: Event, _ gets: inout Int) throws {
    switch event {
    case .full: try set("maxmemory", "1")
    case .evicting:
      try set("maxmemory-policy", "allkeys-random")
      try set("maxmemory", "1")
    case .readOnly: try server.command("REPLICAOF", "127.0.0.1", "1")
    case .tracksOneKey: try set("tracking-table-max-keys", "1")
    case .flushed: for _ in 0..<5 { try server.command("FLUSHALL") }
    case .killsClients: try server.command("CLIENT", "KILL", "TYPE", "normal")
    case .restarts:
      server.kill()
      try server.start()
    case .stopsForAWhile:
      // Until all have given up.
      server.pause()
      defer { server.resume() }
      try processes.sendPortion()
      gets += try processes.gotten()
    }
  }

  private func end(_ event: Event) throws {
    switch event {
    case .full: try set("maxmemory", "0")
    case .evicting:
      try set("maxmemory", "0")
      try set("maxmemory-policy", "noeviction")
    case .readOnly: try server.command("REPLICAOF", "NO", "ONE")
    case .tracksOneKey: try set("tracking-table-max-keys", "1000000")
    case .flushed, .killsClients, .restarts, .stopsForAWhile: break
    }
  }

  private func set(_ option: String, _ value: String) throws {
    try server.command("CONFIG", "SET", option, value)
  }
}

/// Four processes with memory over a cluster, whose slots move and whose primaries stop for a while.
@Suite(.withServer, .heavy) struct ClusterCoherenceTests {
  private enum Event: CaseIterable {
    case slotMoves, killsClients, stopsForAWhile
  }

  @Test func `no get is older than a write known a round trip ago, while slots move`() async throws
  {
    let scene = try await ClusterScene.shared.value
    for server in scene.primaries {
      try server.command(["ACL", "SETUSER"] + CoherentProcesses.users.dropFirst())
    }
    let processes = try CoherentProcesses("cluster", scene.primaries[0])
    let least = CoherentProcesses.leastGets
    let slots = (0..<8).map { ClusterSlot.of(RedisKey(prefix: "run/", key: "k\($0)")) }
    var gets = 0
    repeat {
      for event in Event.allCases.shuffled() {
        gets += try processes.gotten()
        let server = scene.primaries[Int.random(in: 0..<3)]
        switch event {
        case .slotMoves:
          for slot in slots.shuffled().prefix(3) {
            let target = Int.random(in: 0..<3)
            if try scene.owner(of: slot) != target { try await scene.move(slot, to: target) }
          }
        case .killsClients: try server.command("CLIENT", "KILL", "TYPE", "normal")
        case .stopsForAWhile:
          // Shorter than the others take it for dead.
          server.pause()
          try await Task.sleep(for: .milliseconds(300))
          server.resume()
        }
        try processes.sendPortion()
      }
    } while gets < least ?? 0
    if least != nil { print("\(gets) strict gets of a cluster, none stale") }
    #expect(gets > 0)
  }
}

/// Four processes that check the law, by portions of steps of which each always has one to do.
private struct CoherentProcesses {
  /// One key of each lane of a process is refused to be written.
  static let users = [
    "--user", "reader", "on", "nopass", "+@all", "~run/[^x]*", "~lease:*", "%R~run/x*",
  ]

  /// The number of gets that are asked for; nil for a few.
  static let leastGets = ProcessInfo.processInfo.environment["MILLPOND_COHERENCE"].flatMap {
    Int($0)
  }

  private let workers: [WorkerProcess]

  /// The file of the versions, which begins with the number of marks.
  private let versions: FileHandle

  init(_ kind: String, _ server: LocalRedis) throws {
    let (port, path) = ("\(server.port)", server.folder.appending(path: "versions").path)
    workers = try (0..<4).map { try WorkerProcess([kind, port, path, "\($0)"]) }
    versions = try FileHandle(forUpdating: URL(filePath: path))
    for _ in 0..<2 { try sendPortion() }
  }

  /// Marks that the server begins, or has ended, to throw values away.
  func markLosses() throws {
    try versions.seek(toOffset: 0)
    let size = MemoryLayout<Int>.size
    let data = try versions.read(upToCount: size) ?? Data()
    var count = data.withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
    count += 1
    try versions.seek(toOffset: 0)
    try versions.write(contentsOf: withUnsafeBytes(of: count) { Data($0) })
  }

  func sendPortion() throws {
    for worker in workers { try worker.send("5") }
  }

  /// Waits for a portion of all processes; returns the number of gets.
  func gotten() throws -> Int {
    try workers.reduce(0) { sum, worker in
      let words = try worker.line().split(separator: " ", maxSplits: 2).map { String($0) }
      try #require(words.count >= 2)
      #expect(words[1] == "0", "\(words)")
      return sum + (Int(words[0]) ?? 0)
    }
  }
}
