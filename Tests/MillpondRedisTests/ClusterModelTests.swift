import Foundation
import MillpondSignals
import TestTraits
import Testing

@testable import MillpondRedis

/// Servers that divide the slots of a few keys, and say `MOVED` and `ASK` as those of a cluster do.
private final class FakeCluster: Sendable {
  struct State: Sendable {
    var ports: [UInt16] = []

    /// The server of each key, as all servers know it.
    var owners: [String: Int] = [:]

    /// The server to which a key moves, while its former one still has the slot.
    var importers: [String: Int] = [:]

    /// The connections, by server and number, whose next command may be about a moving slot.
    var asking: Set<[Int]> = []

    /// The values that were written for each key, in order.
    var written: [String: [Int]] = [:]
    var redirections = 0
  }

  let state = Locked(State())
  private let servers: [ScriptedServer]

  init(_ count: Int, keys: [String]) throws {
    let state = state
    servers = try (0..<count).map { place in
      try ScriptedServer { connection, command in
        // Others go on meanwhile.
        if Int.random(in: 0..<4) == 0 { sched_yield() }
        return state.withLock { $0.answer(command, at: place, connection) }
      }
    }
    let ports = servers.map(\.port)
    state.withLock { state in
      state.ports = ports
      for key in keys { state.owners[key] = Int.random(in: 0..<count) }
    }
  }

  var address: RedisAddress {
    .cluster(servers.map { .tcp(host: "127.0.0.1", port: $0.port) })
  }
}

extension FakeCluster.State {
  fileprivate mutating func answer(_ command: [String], at place: Int, _ connection: Int) -> String
  {
    let isAsking = asking.remove([place, connection]) != nil
    switch command.first {
    case "HELLO": return "%1\r\n+id\r\n:1\r\n"
    case "CLUSTER":
      // The slots of keys that are not used are at the first server.
      var rows: [(slot: Int, owner: Int)] = owners.map { (ClusterSlot.of(key($0.key)), $0.value) }
      rows.append((ClusterSlot.of(key("unused")), 0))
      return "*\(rows.count)\r\n"
        + rows.map { "*3\r\n:\($0.slot)\r\n:\($0.slot)\r\n*2\r\n$0\r\n\r\n:\(ports[$0.owner])\r\n" }
        .joined()
    case "ASKING":
      asking.insert([place, connection])
      return "+OK\r\n"
    case "SET":
      let (name, value) = (command[1], Int(command[2]) ?? 0)
      guard let owner = owners[name] else { return "-ERR\r\n" }
      let importer = importers[name]
      let target = owner == place ? importer : isAsking && importer == place ? nil : owner
      if let target {
        redirections += 1
        let kind = owner == place ? "ASK" : "MOVED"
        return "-\(kind) \(ClusterSlot.of(key(name))) 127.0.0.1:\(ports[target])\r\n"
      }
      written[name, default: []].append(value)
      return "+OK\r\n"
    default: return "+OK\r\n"
    }
  }

  private func key(_ name: String) -> RedisKey { RedisKey(prefix: "", key: name) }
}

/// Random programs of writes over servers whose slots move.
@Suite(.timeLimit(.minutes(2))) struct ClusterModelTests {
  @Test(arguments: 0..<Effort.rounds(100, few: 4))
  func `the writes of a key are carried out in their order, while slots move`(_: Int) async throws {
    let keys = (0..<4).map { "key\($0)" }
    let cluster = try FakeCluster(3, keys: keys)
    let redis = try Redis(cluster.address, deadline: .seconds(30), tracking: .off)
    redis.loop.start()
    let answers = Locked([Int: Int]())
    let failures = Locked(0)
    var last = 0
    for _ in 0..<100 {
      for _ in 0..<Int.random(in: 0..<40) {
        last += 1
        let (number, name) = (last, keys.randomElement() ?? "")
        let key = RedisKey(prefix: "", key: name)
        redis.route(of: key).submit(.command("SET", .key(key), .text("\(number)"))) { result in
          answers.withLock { $0[number, default: 0] += 1 }
          if case .failure = result { failures.withLock { $0 += 1 } }
        }
      }
      let isImport = cluster.state.withLock { state -> Bool in
        let (key, target) = (keys.randomElement() ?? "", Int.random(in: 0..<3))
        if let importer = state.importers.removeValue(forKey: key) {
          state.owners[key] = importer
          return true
        }
        let isImport = state.owners[key] != target && Bool.random()
        if isImport { state.importers[key] = target } else { state.owners[key] = target }
        return isImport
      }
      // Slots may fly from server to server, but what is moved key by key takes longer than a command.
      if isImport || Int.random(in: 0..<4) == 0 { try await redis.flush().value }
    }
    try await redis.flush().value

    let counts = answers.withLock { $0 }
    #expect((1...max(1, last)).allSatisfy { last == 0 || counts[$0] == 1 }, "answered once")
    let (written, redirections) = cluster.state.withLock { ($0.written, $0.redirections) }
    #expect(redirections > 0)
    for (key, values) in written {
      let late = zip(values, values.dropFirst()).first { $0 > $1 }
      #expect(late == nil, "\(key): \(late ?? (0, 0))")
    }
    #expect(written.values.reduce(0) { $0 + $1.count } + failures.withLock { $0 } == last)
    #expect(failures.withLock { $0 } < max(10, last / 4))
  }
}
