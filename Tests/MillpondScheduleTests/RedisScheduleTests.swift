import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

@testable import MillpondRedis

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Commands that several threads submit are sent whole and in order, and answered once, also when
/// the connection is lost; memory that follows has what the server has.
@Suite(.schedules) struct RedisScheduleTests {
  @Test func `commands of two threads beside the thread of the connection`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      program.thread(["submits 1 and 2": { for name in ["1", "2"] { redis.submit(name) } }])
      program.thread(["submits 3": { redis.submit("3") }])
      program.thread(["looks": { for _ in 0..<4 { redis.look() } }])
      redis.expectAnswers(program)
      program.whenQuiet {
        if redis.answers.values.contains(where: { $0 != [.answered] }) {
          return "the answers are \(redis.answers)"
        }
        return ["1", "2"].starts(with: redis.received.filter { $0 != "3" && $0 != "last" })
          ? nil : "the server received \(redis.received)"
      }
    }
  }

  @Test func `commands beside the loss of the connection`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      redis.connect()
      program.thread([
        "submits a read": { redis.submit("read") }, "submits 1": { redis.submit("1") },
      ])
      program.thread([
        "hangs up": { redis.hangUp() }, "looks": { for _ in 0..<3 { redis.look() } },
      ])
      program.thread(["submits 2": { redis.submit("2") }])
      redis.expectAnswers(program)
      program.whenQuiet {
        for name in ["1", "2"] where redis.received.count(where: { $0 == name }) > 1 {
          return "\(name) was sent twice"
        }
        return nil
      }
    }
  }

  @Test func `a client that is closed beside commands`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      redis.connect()
      program.thread(["submits 1": { redis.submit("1") }, "submits 2": { redis.submit("2") }])
      program.thread(["looks": { for _ in 0..<2 { redis.look() } }, "closes": { redis.close() }])
      program.whenQuiet {
        for (name, answers) in redis.answers where answers.count != 1 {
          return "\(name) has the answers \(answers)"
        }
        return nil
      }
    }
  }

  @Test func `memory that follows beside the loss of the connection`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram(tracking: .byPrefix)
      let shared = RedisCache(redis.client, prefix: "p/", form: .plain)
      let memory = MemoryCache<String, Data>(countLimit: 10)
      let cache = memory.following(shared).layered(over: shared)
      let seen = Witness<Data>()
      redis.setElsewhere("p/a", to: "1")
      redis.connect()
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      program.thread([
        "looks": { redis.look() },
        "hangs up": { redis.hangUp() },
        "another process sets 2": { redis.setElsewhere("p/a", to: "2") },
        "looks again": { for _ in 0..<2 { redis.look() } },
      ])
      program.whenQuiet {
        for _ in 0..<20 { redis.look() }
        if let above = memory.peek("a"), above != redis.values["p/a"].map({ Data($0.utf8) }) {
          return "\(String(decoding: above, as: UTF8.self)) is in memory, \(redis.values) below"
        }
        return seen.complaint()
      }
    }
  }

  @Test func `memory that follows beside a set of this process and one of another`() {
    expectNoFault(ScheduleEffort(searchLimit: 200, randomCount: 100)) { program in
      let redis = RedisProgram(tracking: .byPrefix)
      let shared = RedisCache(redis.client, prefix: "p/", form: .plain)
      let memory = MemoryCache<String, Data>(countLimit: 10)
      let cache = memory.following(shared).layered(over: shared)
      let (set, seen) = (Witness<Void>(), Witness<Data>())
      redis.connect()
      program.thread(["sets 1": { set.watch(cache.set(.bytes(1), for: "a")) }])
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      program.thread([
        "another process sets 2": { redis.setElsewhere("p/a", to: "2") },
        "looks": { for _ in 0..<3 { redis.look() } },
      ])
      program.whenQuiet {
        for _ in 0..<20 { redis.look() }
        let (above, below) = (memory.peek("a"), redis.values["p/a"])
        if !redis.client.isTracking { return "nothing is reported" }
        if !set.isCompleted { return "the set has ended with \(set.summary)" }
        if let above, above != below.map({ Data($0.utf8) }) {
          return "\(above) is in memory, and \(below ?? "nothing") on the server"
        }
        return seen.complaint()
      }
    }
  }

  @Test func `a removal by predicate beside an earlier set`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      let shared = RedisCache(redis.client, prefix: "p/", form: .plain)
      let (removal, set) = (Witness<Void>(), Witness<Void>())
      let (earlier, later) = (Revision.next(), Revision.next())
      redis.connect()
      program.thread([
        "sets": { set.watch(shared.apply(.set("a", Stamped(.bytes(1)), earlier))) }
      ])
      program.thread([
        "removes": {
          removal.watch(shared.apply(.removeMatching(KeyPredicate { $0 == "a" }, later)))
        },
        "looks": { for _ in 0..<6 { redis.look() } },
      ])
      program.whenQuiet {
        for _ in 0..<20 { redis.look() }
        if redis.values["p/a"] != nil { return "the removed value has come back" }
        return removal.complaint() ?? set.complaint()
      }
    }
  }

  /// The set is refused, so that a removal which left the key to it would leave the old value.
  @Test func `a removal of everything beside a set that the server refuses`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      let shared = RedisCache(redis.client, prefix: "p/", form: .plain)
      let (removal, set) = (Witness<Void>(), Witness<Void>())
      redis.setElsewhere("p/a", to: "old")
      redis.isFull = true
      redis.connect()
      program.thread(["removes all": { removal.watch(shared.removeAll()) }])
      program.thread(["sets": { set.watch(shared.set(.bytes(1), for: "a")) }])
      program.thread(["looks": { for _ in 0..<3 { redis.look() } }])
      program.whenQuiet {
        for _ in 0..<20 { redis.look() }
        if removal.isCompleted, redis.values["p/a"] == "old" { return "the old value is left" }
        return removal.complaint()
      }
    }
  }
}

extension ScheduleEffort {
  /// Fewer schedules, since each connects.
  fileprivate static var redis: ScheduleEffort {
    ScheduleEffort(searchLimit: 100, randomCount: 100)
  }
}

/// A client of a small server, both driven by the program.
private final class RedisProgram: @unchecked Sendable {
  enum Answer { case answered, failed, wrong }

  let client: Redis
  private var connection: RedisConnection { client.loop.connections[0] }
  private var driver: RedisConnectionDriver
  private var room = [UInt8](repeating: 0, count: 1_024)
  private let listener: Int32
  private let path = NSTemporaryDirectory() + "millpond-\(UUID().uuidString.prefix(8))"
  private var accepted: [(descriptor: Int32, parser: RESPParser)] = []

  private(set) var answers: [String: [Answer]] = [:]

  /// The commands that have arrived at the server, without those of the client's own.
  private(set) var received: [String] = []

  /// The values that the server has stored.
  private(set) var values: [String: String] = [:]

  /// Whether the server stores nothing more.
  var isFull = false

  init(tracking: RedisTracking = .off) {
    var settings = RedisSettings(
      address: .unix(path: path), database: 0, connections: 1, tracking: tracking,
      limits: ConnectionLimits(deadline: .max / 4, heartbeat: .max / 4, firstPause: 0))
    settings.chance = { 0 }
    guard let address = try? SocketAddress.unix(path: path), let client = try? Redis(settings),
      let listener = try? SocketCalls.open(family: address.family)
    else { preconditionFailure("the system has no sockets") }
    address.bytes.withUnsafeBytes { bytes in
      _ = bind(
        listener, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
        socklen_t(bytes.count))
    }
    _ = listen(listener, 8)
    let loop = client.loop
    driver = RedisConnectionDriver(loop.connections[0], settings, loop.tracker, loop.wake)
    // The program does what the thread of the client does.
    loop.phase.store(.running, ordering: .relaxed)
    self.client = client
    self.listener = listener
  }

  deinit {
    for client in accepted { SocketCalls.close(client.descriptor) }
    SocketCalls.close(listener)
    unlink(path)
  }

  /// Makes the connection.
  func connect() {
    submit("first")
    for _ in 0..<6 { look() }
  }

  /// Submits a command, of which "read" may be repeated.
  func submit(_ name: String) {
    answers[name] = []
    connection.submit(.command("ECHO", .text(name), isRepeatable: name == "read")) { result in
      switch result {
      case .success(let value): self.answers[name]?.append(value.text == name ? .answered : .wrong)
      case .failure: self.answers[name]?.append(.failed)
      }
    }
  }

  /// Does what the thread of the connections does in a turn, without waiting; then the server
  /// answers.
  func look() {
    _ = driver.tend(at: SocketCalls.now())
    var watches = [driver.watch]
    SocketCalls.wait(for: &watches, atMost: 0)
    client.loop.wake.clear()
    _ = driver.act(on: watches[0], &room)
    serve()
  }

  /// Ends the connections of the server.
  func hangUp() {
    for client in accepted { SocketCalls.close(client.descriptor) }
    accepted = []
  }

  /// Fails what is left.
  func close() {
    client.close()
    client.loop.closeAll()
  }

  /// Stores a value, and reports that to the client.
  func setElsewhere(_ key: String, to value: String) {
    values[key] = value
    let report = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$\(key.utf8.count)\r\n\(key)\r\n"
    for client in accepted { send(report, to: client.descriptor) }
  }

  private func serve() {
    while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      accepted.append((descriptor, RESPParser()))
    }
    for place in accepted.indices {
      var bytes = [UInt8](repeating: 0, count: 1_024)
      let result = bytes.withUnsafeMutableBytes { buffer in
        SocketCalls.receive(accepted[place].descriptor, into: buffer)
      }
      guard case .moved(let count) = result else { continue }
      bytes[..<count].withUnsafeBytes { accepted[place].parser.append($0) }
      while case .array(let words)? = next(of: place) {
        send(answer(words.compactMap(\.text)), to: accepted[place].descriptor)
      }
    }
  }

  private func send(_ text: String, to descriptor: Int32) {
    _ = Array(text.utf8).withUnsafeBytes { SocketCalls.send(descriptor, $0) }
  }

  private func next(of place: Int) -> RESPValue? {
    do { return try accepted[place].parser.next() } catch { return nil }
  }

  private func answer(_ words: [String]) -> String {
    switch words.first {
    case "HELLO": return "%1\r\n+id\r\n:1\r\n"
    case "ECHO":
      received.append(words.last ?? "")
      return "+\(words.last ?? "")\r\n"
    case "GET": return values[words[1]].map { "$\($0.utf8.count)\r\n\($0)\r\n" } ?? "_\r\n"
    case "SET", "EVAL":
      if isFull { return "-OOM x\r\n" }
      values[words[words.count - 2]] = words[words.count - 1]
      return "+OK\r\n"
    case "SCAN":
      let keys = values.keys.map { "$\($0.utf8.count)\r\n\($0)\r\n" }
      return "*2\r\n$1\r\n0\r\n*\(keys.count)\r\n" + keys.joined()
    case "UNLINK":
      for key in words.dropFirst() { values[key] = nil }
      return ":1\r\n"
    default: return "+OK\r\n"
    }
  }

  /// Checks that each command has one answer, once the thread of the connection has had its turns.
  func expectAnswers(_ program: ScheduleProgram) {
    program.whenQuiet { [self] in
      for _ in 0..<20 { look() }
      for (name, answers) in answers where answers.count != 1 || answers == [.wrong] {
        return "\(name) has the answers \(answers)"
      }
      submit("last")
      for _ in 0..<20 { look() }
      return answers["last"] == [.answered] ? nil : "the connection is of no use afterwards"
    }
  }
}
