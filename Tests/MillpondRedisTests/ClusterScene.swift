import Foundation
import LocalRedis
import MillpondRedis

/// A cluster of the test's own: three primaries on loopback, and a replica of each if need be.
struct ClusterScene: Sendable {
  let primaries: [LocalRedis]
  let replicas: [LocalRedis]

  /// The ports by which the servers hand each other keys, if not those of all clients.
  private let ports: [UInt16]

  /// A cluster for several tests, since servers need two seconds to take their places; each test has
  /// a prefix of its own.
  static let shared = Task { try await ClusterScene() }

  /// The slots of each primary.
  static let slots = [0...5_460, 5_461...10_922, 10_923...16_383]

  /// Starts the servers, and returns when each of them finds the cluster complete.
  ///
  /// - Parameters:
  ///   - hasReplicas: Whether each primary has one.
  ///   - ports: The ports by which the servers hand each other keys, if not those of all clients.
  ///   - options: Returns further options of the server with such a port.
  init(
    hasReplicas: Bool = false, ports: [UInt16] = [], options: (UInt16) -> [String] = { _ in [] }
  ) async throws {
    self.ports = ports
    let buses = try (0..<6).map { _ in try LocalRedis.freePort() }
    let servers = try buses.prefix(hasReplicas ? 6 : 3).enumerated().map { number, bus in
      try LocalRedis(
        [
          "--cluster-enabled", "yes", "--cluster-port", "\(bus)", "--cluster-node-timeout", "1000",
          "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
        ] + (ports.isEmpty ? [] : options(ports[number])))
    }
    primaries = Array(servers[..<3])
    replicas = Array(servers[3...])
    for (number, server) in servers.enumerated() {
      try server.command("CLUSTER", "SET-CONFIG-EPOCH", "\(number + 1)")
      try server.command("CLUSTER", "MEET", "127.0.0.1", "\(servers[0].port)", "\(buses[0])")
    }
    for (server, slots) in zip(primaries, Self.slots) {
      try server.command(
        "CLUSTER", "ADDSLOTSRANGE", "\(slots.lowerBound)", "\(slots.upperBound)")
    }
    for server in servers {
      try await until(
        try server.command("CLUSTER", "INFO"),
        contains: "cluster_state:ok", "cluster_known_nodes:\(servers.count)")
    }
    for (primary, replica) in zip(primaries, replicas) {
      let name = try primary.command("CLUSTER", "MYID")
      try await until(try replica.command("CLUSTER", "REPLICATE", name), contains: "OK")
      try await until(
        try replica.command("INFO", "replication"), contains: "master_link_status:up")
    }
    // Until all of them tell of the replicas, a primary that dies may have none.
    for server in servers {
      for replica in replicas {
        let name = try replica.command("CLUSTER", "MYID")
        try await until(try server.command("CLUSTER", "NODES"), contains: "\(name)", "slave")
      }
    }
  }

  private func until(
    _ output: @autoclosure () throws -> String, contains texts: String...
  ) async throws {
    while true {
      let output = try output()
      if texts.allSatisfy({ output.contains($0) }) { return }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Returns a client that knows one of the servers.
  func client(
    knowing place: Int = 0, deadline: Duration = .seconds(10), heartbeat: Duration = .seconds(10)
  ) throws -> Redis {
    try Redis(
      .cluster([.tcp(host: "127.0.0.1", port: primaries[place].port)]), deadline: deadline,
      heartbeat: heartbeat)
  }

  /// Moves a slot with its keys to another primary.
  ///
  /// - Parameter meanwhile: Runs when the keys have moved, before the servers know it.
  func move(
    _ slot: Int, to target: Int, meanwhile: () async throws -> Void = {}
  ) async throws {
    let source = try owner(of: slot)
    let (from, to) = (primaries[source], primaries[target])
    let ids = (try from.command("CLUSTER", "MYID"), try to.command("CLUSTER", "MYID"))
    try to.command("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", ids.0)
    try from.command("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", ids.1)
    let keys = try from.command("CLUSTER", "GETKEYSINSLOT", "\(slot)", "1000")
      .split(separator: "\n").map { String($0) }
    let port = ports.isEmpty ? to.port : ports[target]
    for key in keys {
      try from.command("MIGRATE", "127.0.0.1", "\(port)", key, "0", "5000")
    }
    try await meanwhile()
    for server in [to, from] + primaries {
      try server.command("CLUSTER", "SETSLOT", "\(slot)", "NODE", ids.1)
    }
  }

  /// The place of the primary that has a slot, as it says itself.
  func owner(of slot: Int) throws -> Int {
    for place in primaries.indices {
      let answer = try primaries[place].command("CLUSTER", "COUNTKEYSINSLOT", "\(slot)")
      let nodes = try primaries[place].command("CLUSTER", "NODES").split(separator: "\n")
      guard let own = nodes.first(where: { $0.contains("myself") }), !answer.isEmpty else {
        continue
      }
      let ranges = own.split(separator: " ").dropFirst(8).compactMap { text -> ClosedRange<Int>? in
        let ends = text.split(separator: "-").compactMap { Int($0) }
        guard let first = ends.first, let last = ends.last else { return nil }
        return first...last
      }
      if ranges.contains(where: { $0.contains(slot) }) { return place }
    }
    throw LocalRedisError.noPort
  }
}
