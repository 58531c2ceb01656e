import Foundation
import MillpondSignals
import MillpondSockets
import MillpondTesting
import Synchronization

@testable import MillpondRedis

/// A client of a cluster of two servers with one slot, both driven by the program.
final class ClusterProgram: @unchecked Sendable {
  let client: Redis
  private var drivers: [RedisConnectionDriver]
  private var room = [UInt8](repeating: 0, count: 1_024)

  /// The server that has all slots, and the values that were written, in order.
  private var owner = 0
  private(set) var written: [String] = []
  private(set) var answers: [String: Int] = [:]
  private(set) var failures = 0

  init() {
    let servers = Locked<@Sendable ([String], Int) -> String>({ _, _ in "" })
    let addresses = (0..<2).map { RedisAddress.tcp(host: "server", port: UInt16(1 + $0)) }
    let settings = RedisSettings(
      address: .cluster([addresses[0]]), database: 0, connections: 1, tracking: .off,
      limits: ConnectionLimits(deadline: .max / 4, heartbeat: .max / 4, firstPause: 0),
      stream: { _, port in
        let answer = servers.withLock { $0 }
        return FakeServer { answer($0, Int(port) - 1) }
      })
    guard let client = try? Redis(settings) else { preconditionFailure("no descriptors are left") }
    self.client = client
    let loop = client.loop
    loop.phase.store(.running, ordering: .relaxed)
    drivers = []
    servers.withLock { $0 = { [weak self] in self?.answer($0, at: $1) ?? "" } }
    let rows = RESPValue.array([
      .array([
        .integer(0), .integer(16_383), .array([.bytes(Data("server".utf8)), .integer(1)]),
      ])
    ])
    if let topology = ClusterTopology(rows, from: addresses[0]) {
      loop.connections[0].withState { state in
        _ = state.follow(topology, at: 0)
        _ = state.place(of: addresses[1])
      }
    }
    drivers = loop.nodes.map { RedisConnectionDriver($0, settings, loop.tracker, loop.wake) }
  }

  /// Makes the connection to the first server.
  func connect() {
    set("first")
    for _ in 0..<6 { look() }
  }

  /// Writes the only key.
  func set(_ value: String) {
    let key = RedisKey(prefix: "", key: "k")
    client.route(of: key).submit(.command("SET", .key(key), .text(value))) { result in
      self.answers[value, default: 0] += 1
      if case .failure = result { self.failures += 1 }
    }
  }

  /// Moves all slots to the other server.
  func move() { owner = 1 - owner }

  /// Does what the thread of the connections does in a turn, without waiting.
  func look() {
    for place in drivers.indices {
      _ = drivers[place].tend(at: SocketCalls.now())
      _ = drivers[place].act(on: drivers[place].watch, &room)
    }
    client.loop.wake.clear()
  }

  private func answer(_ words: [String], at place: Int) -> String {
    switch words.first {
    case "HELLO": return "%1\r\n+id\r\n:1\r\n"
    case "CLUSTER":
      return "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n+server\r\n:\(owner + 1)\r\n"
    case "SET":
      let slot = ClusterSlot.of(RedisKey(prefix: "", key: "k"))
      if place != owner { return "-MOVED \(slot) server:\(owner + 1)\r\n" }
      written.append(words[2])
      return "+OK\r\n"
    default: return "+OK\r\n"
    }
  }
}

/// A stream to a server that answers within the call that writes.
private final class FakeServer: RedisStream {
  private let answer: @Sendable ([String]) -> String
  private let state = Locked(State())

  private struct State: Sendable {
    var receive: @Sendable (RedisStreamEvent) -> Void = { _ in }
    var parser = RESPParser()
    var output = Data()
    var isAsked = false
  }

  init(_ answer: @escaping @Sendable ([String]) -> String) { self.answer = answer }

  func connect(_ receive: @escaping @Sendable (RedisStreamEvent) -> Void) {
    state.withLock { state in
      state = State()
      state.receive = receive
    }
    receive(.connected)
  }

  func read() {
    state.withLock { $0.isAsked = true }
    deliver()
  }

  func write(_ bytes: Data) {
    let commands = state.withLock { state -> [[String]] in
      bytes.withUnsafeBytes { state.parser.append($0) }
      var commands: [[String]] = []
      while case .array(let words)? = try? state.parser.next() {
        commands.append(words.map { $0.text ?? "" })
      }
      return commands
    }
    for command in commands {
      let text = answer(command)
      state.withLock { $0.output += Data(text.utf8) }
    }
    state.withLock { $0.receive }(.written)
    deliver()
  }

  private func deliver() {
    let (bytes, receive) = state.withLock { state -> (Data, @Sendable (RedisStreamEvent) -> Void) in
      guard state.isAsked, !state.output.isEmpty else { return (Data(), { _ in }) }
      state.isAsked = false
      return (exchange(&state.output, with: Data()), state.receive)
    }
    if !bytes.isEmpty { receive(.received(bytes)) }
  }

  func close() {}
}
