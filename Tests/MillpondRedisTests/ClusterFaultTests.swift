import Foundation
import LocalRedis
import Millpond
import MillpondSignals
import MillpondSockets
import Testing

@testable import MillpondRedis

/// Servers of a cluster that are faulty, hostile, or disagree.
@Suite(.timeLimit(.minutes(1))) struct ClusterFaultTests {
  /// A server that has all slots, says what a test wants to a get or a set, and else what is usual.
  private func server(
    slots: @escaping @Sendable (UInt16) -> String = { all(at: $0) },
    _ answer: @escaping @Sendable ([String]) -> String
  ) throws -> (server: ScriptedServer, cache: RedisCache) {
    let port = Locked<UInt16>(0)
    let server = try ScriptedServer { _, command in
      switch command.first {
      case "HELLO": "%1\r\n+id\r\n:1\r\n"
      case "CLUSTER": slots(port.withLock { $0 })
      case "GET", "SET", "EVAL": answer(command)
      default: "+OK\r\n"
      }
    }
    port.withLock { $0 = server.port }
    let redis = try Redis(
      .cluster([.tcp(host: "127.0.0.1", port: server.port)]), deadline: .seconds(5),
      tracking: .off)
    return (server, RedisCache(redis, prefix: "", form: .plain))
  }

  private static func all(at port: UInt16) -> String {
    "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:\(port)\r\n"
  }

  /// The error of a get of `k`, whose slot is 7629.
  private func failure(_ cache: RedisCache) async -> RedisError? {
    do {
      _ = try await cache.get("k").value
    } catch CacheError.unavailable(_, let error as RedisError) {
      return error
    } catch CacheError.circuitOpen(_, _, let error as RedisError) {
      return error
    } catch {}
    return nil
  }

  @Test func `servers that send a key to each other for ever end in its failure`() async throws {
    let ports = Locked<[UInt16]>([0, 0])
    let other = try ScriptedServer { _, command in
      switch command.first {
      case "GET": "-MOVED 7629 127.0.0.1:\(ports.withLock { $0[0] })\r\n"
      case "HELLO": "%1\r\n+id\r\n:1\r\n"
      default: "+OK\r\n"
      }
    }
    let (server, cache) = try server { _ in "-MOVED 7629 127.0.0.1:\(ports.withLock { $0[1] })\r\n"
    }
    ports.withLock { $0 = [server.port, other.port] }
    let error = await failure(cache)
    #expect(error?.serverCode == "MOVED")
    #expect("\(error.map { "\($0)" } ?? "")".contains("7629"))
  }

  @Test(arguments: [
    "MOVED", "MOVED 7629", "MOVED 16384 127.0.0.1:1", "MOVED -1 127.0.0.1:1", "MOVED x 127.0.0.1:1",
    "MOVED 7629 127.0.0.1", "MOVED 7629 127.0.0.1:0", "MOVED 7629 127.0.0.1:65536", "MOVED 7629 :",
    "MOVED 99999999999999999999 a:1", "MOVED 1 127.0.0.1:1", "ASK 7629", "ASK 7629 127.0.0.1:x",
    "MOVED 7629 127.0.0.1:1 extra",
  ])
  func `a redirection that makes no sense is the get's failure`(_ message: String) async throws {
    let (server, cache) = try server { _ in "-\(message)\r\n" }
    #expect(await failure(cache) == .server(message: message))
    #expect(await failure(cache) == .server(message: message))
    withExtendedLifetime(server) {}
  }

  @Test(arguments: [
    "*0\r\n", "_\r\n", "+OK\r\n", "*1\r\n*0\r\n",
    "-ERR This instance has cluster support disabled\r\n",
    "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
    "*1\r\n*3\r\n:5\r\n:4\r\n*2\r\n$1\r\na\r\n:1\r\n",
    "*1\r\n*3\r\n:-1\r\n:4\r\n*2\r\n$1\r\na\r\n:1\r\n",
    "*1\r\n*3\r\n:0\r\n:4\r\n*2\r\n$1\r\na\r\n:0\r\n",
    "*1\r\n*3\r\n:0\r\n:4\r\n*2\r\n$1\r\na\r\n:65536\r\n", "*1\r\n*3\r\n:0\r\n:4\r\n$1\r\na\r\n",
    "nonsense\r\n",
  ])
  func `slots that make no sense let gets fail, with the server's name`(_ slots: String)
    async throws
  {
    let (server, cache) = try server(slots: { _ in slots }) { _ in "_\r\n" }
    guard case .noPrimary("the cluster", let reason) = await failure(cache) else {
      Issue.record("another error")
      return
    }
    #expect(reason.contains("127.0.0.1:\(server.port)"))
  }

  @Test func `a get that the cluster can't answer for a moment is sent again, a set is not`()
    async throws
  {
    let count = Locked(0)
    let (server, cache) = try server { command in
      if command[0] != "GET" { return "-CLUSTERDOWN The cluster is down\r\n" }
      let isDown = count.withLock { count in
        count += 1
        return count < 3
      }
      return isDown ? "-CLUSTERDOWN The cluster is down\r\n" : "$1\r\nv\r\n"
    }
    #expect(try await cache.get("k").value == Data("v".utf8))
    await #expect(throws: CacheError.self) { try await cache.set(Data(), for: "k").value }
    withExtendedLifetime(server) {}
  }

  @Test func `without any of its servers, gets fail, and the cluster's name says which`()
    async throws
  {
    let ports = [try LocalRedis.freePort(), try LocalRedis.freePort()]
    let redis = try Redis(.cluster(ports.map { .tcp(host: "127.0.0.1", port: $0) }))
    let cache = RedisCache(redis, prefix: "")
    guard case .noPrimary(_, let reason) = await failure(cache) else {
      Issue.record("another error")
      return
    }
    for port in ports { #expect(reason.contains("127.0.0.1:\(port)")) }
    #expect(redis.layerName.contains("the cluster of 127.0.0.1:\(ports[0])"))
    #expect(await failure(RedisCache(try Redis(.cluster([])), prefix: "")) != nil)
    #expect(await failure(RedisCache(try Redis(.cluster([.cluster([])])), prefix: "")) != nil)
  }

  @Test
  func `a cluster that names ever more servers has a limit, and unused ones give their place`()
    throws
  {
    let connection = RedisConnection(
      0, .init(deadline: 1, heartbeat: 1), try WakePipe(), to: .cluster([]))
    func follow(_ ports: ClosedRange<Int>) throws {
      let rows = ports.map { port -> RESPValue in
        .array([
          .integer(Int64(port - ports.lowerBound)), .integer(Int64(port - ports.lowerBound)),
          .array([.bytes(Data("h".utf8)), .integer(Int64(port))]),
        ])
      }
      let topology = try #require(ClusterTopology(.array(rows), from: .tcp(host: "h", port: 1)))
      connection.withState { _ = $0.follow(topology, at: 0) }
    }
    try follow(1...5)
    #expect(connection.nodes.count == 5)
    for start in stride(from: 10, to: 100, by: 5) { try follow(start...(start + 4)) }
    #expect(connection.nodes.count <= 11)
    try follow(1_000...2_100)
    #expect(connection.nodes.count == 1_000)
  }

  @Test
  func `memory counts as current while all servers with keys report, also one that comes back`()
    throws
  {
    let connection = RedisConnection(
      0, .init(deadline: 1, heartbeat: 1), try WakePipe(), to: .cluster([]))
    connection.withState { state in
      state.nodes.append(NodeState(.init(deadline: 1, heartbeat: 1), .tcp(host: "h")))
    }
    let tracker = RedisTracker(.byPrefix, [connection])
    let (prefix, nodes) = (tracker.use("p/"), connection.nodes)
    func begin(_ node: RedisNode) {
      tracker.began(on: node, tracker.step(after: nil, on: node.number).sent.version)
    }
    tracker.setNodes([true, true])
    begin(nodes[0])
    #expect(!prefix.prefix.isInForce)
    begin(nodes[1])
    #expect(prefix.prefix.isInForce)

    tracker.setNodes([true, false])
    tracker.setNodes([true, true])
    #expect(prefix.prefix.isInForce, "it has reported all the time")
    tracker.setNodes([true, false])
    tracker.ended(on: nodes[1])
    #expect(prefix.prefix.isInForce)
    tracker.setNodes([true, true])
    #expect(!prefix.prefix.isInForce)
    begin(nodes[1])
    #expect(prefix.prefix.isInForce)
    tracker.setNodes([true, true, true])
    #expect(!prefix.prefix.isInForce)
  }

  @Test func `a report of a removal of many keys clears, whichever server it is from`() throws {
    let connection = RedisConnection(
      0, .init(deadline: 1, heartbeat: 1), try WakePipe(), to: .cluster([]))
    let tracker = RedisTracker(.byPrefix, [connection])
    let use = tracker.use("p/")
    let seen = Locked((changed: [String](), clears: 0))
    let following = use.prefix.follow(
      RedisFollower(
        changed: { key, _ in seen.withLock { $0.changed.append(key) } },
        cleared: { _ in seen.withLock { $0.clears += 1 } }))
    for key in ["p/k", "p/\0removed", "p/\0removed{17}", "q/\0removed"] {
      let keys = RESPValue.array([.bytes(Data(key.utf8))])
      tracker.received([.bytes(Data("invalidate".utf8)), keys], on: connection.nodes[0])
    }
    #expect(seen.withLock { $0.changed } == ["k"])
    #expect(seen.withLock { $0.clears } == 2)
    following.dispose()
  }

  /// Two servers of a cluster, of which the second has only the slot of `k`, until that moves.
  private func pair(
    heartbeat: Duration = .seconds(10), moved: Locked<Bool>,
    _ answer: @escaping @Sendable (_ server: Int, [String]) -> String?
  ) throws -> (servers: [ScriptedServer], cache: RedisCache) {
    let ports = Locked<[UInt16]>([])
    let servers = try (0..<2).map { place in
      try ScriptedServer { _, command in
        if let answer = answer(place, command) { return answer.isEmpty ? nil : answer }
        let isMoved = moved.withLock { $0 }
        let (first, second) = ports.withLock { ($0[0], $0[1]) }
        switch command.first {
        case "HELLO": return "%1\r\n+id\r\n:1\r\n"
        case "CLUSTER":
          let rows = [
            (0, 7_628, first), (7_629, 7_629, isMoved ? first : second), (7_630, 16_383, first),
          ]
          return "*3\r\n"
            + rows.map { "*3\r\n:\($0)\r\n:\($1)\r\n*2\r\n$9\r\n127.0.0.1\r\n:\($2)\r\n" }.joined()
        case "GET", "EVAL":
          if place == 1, isMoved, command.last == "k" {
            return "-MOVED 7629 127.0.0.1:\(first)\r\n"
          }
          return "$1\r\nv\r\n"
        default: return "+OK\r\n"
        }
      }
    }
    ports.withLock { $0 = servers.map(\.port) }
    let redis = try Redis(
      .cluster([.tcp(host: "127.0.0.1", port: servers[0].port)]), deadline: .seconds(5),
      heartbeat: heartbeat, tracking: .off)
    return (servers, RedisCache(redis, prefix: "", form: .plain))
  }

  @Test func `a removal finds a key whose slot moves to a server that was looked through already`()
    async throws
  {
    let (moved, cache) = (Locked(false), Locked<RedisCache?>(nil))
    let (unlinked, scans) = (Locked<[Int]>([]), Locked(0))
    let (servers, removing) = try pair(moved: moved) { place, command in
      switch command.first {
      case "SCAN" where place == 0:
        if scans.withLock({ exchange(&$0, with: $0 + 1) }) > 0 {
          return "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n"
        }
        // Before the other server is asked for its keys: the answer tells that the slot has moved.
        moved.withLock { $0 = true }
        cache.withLock { $0 }?.get("k").subscribe(onFailed: { _ in })
        return "*2\r\n$1\r\n0\r\n*0\r\n"
      case "SCAN": return "*2\r\n$1\r\n0\r\n*0\r\n"
      case "UNLINK":
        unlinked.withLock { $0.append(place) }
        return ":1\r\n"
      default: return nil
      }
    }
    _ = try await removing.get("k").value
    cache.withLock { $0 = removing }
    try await removing.removeAll().value
    #expect(unlinked.withLock { $0 } == [0])
    cache.withLock { $0 = nil }
    withExtendedLifetime(servers) {}
  }

  @Test func `when a server is lost, the others are asked at once who has its slots`() async throws
  {
    let moved = Locked(false)
    let (servers, cache) = try pair(heartbeat: .seconds(10_000), moved: moved) { place, command in
      place == 1 && moved.withLock { $0 } ? "" : nil
    }
    #expect(try await cache.get("k").value == Data("v".utf8))
    moved.withLock { $0 = true }
    while (try? await cache.get("k").value) == nil { await Task.yield() }
    withExtendedLifetime(servers) {}
  }

  @Test func `the slot of a key is that of the servers`() {
    func slot(_ text: String) -> Int { ClusterSlot.of(RedisKey(prefix: "", key: text)) }
    #expect(slot("123456789") == 0x31C3)
    #expect(slot("") == 0)
    #expect(slot("{user1000}.following") == slot("{user1000}.followers"))
    #expect(slot("{user1000}.following") == slot("user1000"))
    #expect(slot("foo{}{bar}") == 8_363)
    #expect(slot("foo{{bar}}zap") == slot("{bar"))
    #expect(slot("foo{bar}{zap}") == slot("bar"))
    #expect(slot("a{b") != slot("b"))
    #expect(ClusterSlot.of(RedisKey(prefix: "{a", key: "b}c")) == slot("ab"))
  }

  @Test func `redirections name the server, also by a number of version 6 or without a host`() {
    let own = RedisAddress.tls(host: "own", port: 1)
    #expect(
      ClusterRedirection("MOVED 3 ::1:70", from: own)
        == .moved(slot: 3, .tls(host: "::1", port: 70)))
    #expect(
      ClusterRedirection("ASK 3 :70", from: own) == .ask(slot: 3, .tls(host: "own", port: 70)))
    #expect(ClusterRedirection("CLUSTERDOWN x", from: own) == .later)
    #expect(ClusterRedirection("MOVED 3 ::1:70", from: .unix(path: "")) == nil)
  }
}
