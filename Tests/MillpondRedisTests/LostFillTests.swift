import Dispatch
import Foundation
import LocalRedis
import Millpond
import MillpondSignals
import Testing
import MillpondSockets

@testable import MillpondRedis

/// Fills whose answers do not come, while other processes may have written their keys.
@Suite(.timeLimit(.minutes(1))) struct LostFillTests {
  private let commands = Locked<[String]>([])

  /// The commands of a connection after the greeting, without the texts of scripts.
  private func commands(of connection: Int) -> [String] {
    commands.withLock { commands in
      commands.filter { $0.hasPrefix("\(connection) ") }.map { String($0.dropFirst(2)) }
    }
  }

  /// A server that describes itself as `run` of its connection, and notes the commands.
  private func server(
    run: String? = "a", _ answer: @escaping @Sendable (Int, [String]) -> String?
  ) throws -> ScriptedServer {
    try ScriptedServer(description: run.map { "run_id:\($0)" }) { [commands] connection, command in
      if command.first == "HELLO" { return "%1\r\n$2\r\nid\r\n:\(connection)\r\n" }
      let words = command.first == "EVAL" ? ["EVAL"] + command[3...] : command[...]
      commands.withLock { $0.append("\(connection) " + words.joined(separator: " ")) }
      return answer(connection, command)
    }
  }

  private func fill(_ cache: RedisCache, _ key: String, _ text: String) async {
    let outcome = cache.apply(.fill(key, Stamped(Data(text.utf8)), FillToken()))
    _ = try? await outcome.collect().value
  }

  /// The commands of a fill of a key that has nothing.
  private static let fill = ["EVAL p:k", "PING", "SET p:k value NX"]

  @Test func `a fill without an answer is taken back before anything else is sent`() async throws {
    let server = try server { connection, command in
      if command.first == "SET", connection == 1 { return nil }
      return command.first == "SET" ? "+OK\r\n" : "_\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    await fill(cache, "k", "value")
    #expect(try await cache.found("k") == nil)

    #expect(commands(of: 1) == Self.fill)
    #expect(commands(of: 2) == ["CLIENT KILL ID 1", "EVAL p:k 5:value", "GET p:k"])
  }

  @Test func `a fill is taken back until the server has answered`() async throws {
    let server = try server { connection, command in
      if connection < 4, command.first == "SET" || command.last == "5:value" { return nil }
      return command.first == "SET" ? "+OK\r\n" : "_\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    await fill(cache, "k", "value")
    while (try? await cache.get("k").collect().value) == nil { await Task.yield() }
    try await cache.flush().value

    for connection in 2...4 {
      #expect(commands(of: connection).filter { $0 == "EVAL p:k 5:value" }.count == 1)
    }
  }

  /// A server that loads its data after a restart, for example.
  @Test(arguments: ["LOADING", "BUSY", "READONLY"])
  func `a fill is taken back when the server can do so`(error: String) async throws {
    let count = Locked(0)
    let server = try server { connection, command in
      if connection == 1, command.first == "SET" { return nil }
      if command.last == "5:value" {
        let number = count.withLock { count in
          count += 1
          return count
        }
        return number < 3 ? "-\(error) x\r\n" : ":1\r\n"
      }
      return command.first == "PING" ? "+PONG\r\n" : "_\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    await fill(cache, "k", "value")
    while count.withLock({ $0 }) < 3 { try await cache.flush().value }
    for _ in 0..<20 { try await cache.flush().value }

    #expect(count.withLock { $0 } == 3)
  }

  @Test(arguments: ["-OOM x\r\n", "-READONLY x\r\n", "_\r\n"])
  func `a fill that the server has refused is not taken back`(refusal: String) async throws {
    let server = try server { _, command in command.first == "SET" ? refusal : "_\r\n" }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    await fill(cache, "k", "value")
    _ = try await cache.flush().value

    #expect(commands(of: 1).prefix(3) == Self.fill[...])
  }

  @Test func `a removal of what a value can't replace fails the fill if it fails`() async throws {
    let server = try server { _, command in
      if command.first == "PING" { return "+PONG\r\n" }
      return command.count == 4 ? "$5\r\n3:old\r\n" : "-READONLY x\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)
    let value = Stamped(Data([1]), age: .zero, timeToLive: .after(.zero))

    await #expect(throws: CacheError.self) {
      try await cache.apply(.fill("k", value, FillToken())).collect().value
    }

    #expect(commands(of: 1).filter { $0 != "PING" } == ["EVAL p:k", "EVAL p:k 3:old"])
  }

  @Test func `a fill is stored only over what its key had`() async throws {
    let server = try server { _, command in
      command.first == "EVAL" && command.count == 4 ? "$5\r\n3:old\r\n" : "+OK\r\n"
    }
    let cache = RedisCache(
      try server.client(), prefix: "p:", timeToLive: .after(.seconds(5)), form: .plain)

    await fill(cache, "k", "value")
    try await cache.flush().value

    let usual = commands(of: 1).filter { $0 != "PING" }
    #expect(usual == ["EVAL p:k", "EVAL p:k 3:old value PX 5000"])
    #expect(commands(of: 1).prefix(2) == ["EVAL p:k", "PING"])
  }

  /// Whoever waits for a fill learns whether the server has it.
  @Test(arguments: [("+OK\r\n", 1), ("_\r\n", 0)])
  func `a fill sends a value if it is stored`(answer: String, count: Int) async throws {
    let server = try server { _, command in command.first == "SET" ? answer : "_\r\n" }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    let fill = cache.apply(.fill("k", Stamped(Data([1])), FillToken()))

    #expect(try await fill.collect().value.count == count)
  }

  /// The write of the other process is reported with the answer to the fill.
  @Test func `a fill is taken back also if a later write of this process stores nothing`()
    async throws
  {
    let isSet = DispatchSemaphore(value: 0)
    let server = try server { _, command in
      guard command.first == "SET" else { return command.first == "CLIENT" ? "+OK\r\n" : "_\r\n" }
      if command.contains("mine") { return "_\r\n" }
      isSet.wait()
      return ">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\np:k\r\n+OK\r\n"
    }
    let redis = try Redis(.tcp(host: "127.0.0.1", port: server.port))
    let cache = RedisCache(redis, prefix: "p:", form: .plain)
    try await cache.tracks()

    let fill = cache.apply(.fill("k", Stamped(Data("value".utf8)), FillToken()))
    while !commands(of: 1).contains("SET p:k value NX") { await Task.yield() }
    let isStored = cache.setIfAbsent(Data("mine".utf8), for: "k")
    isSet.signal()

    #expect(try await isStored.value == false)
    #expect(try await fill.collect().value.isEmpty)
    try await cache.flush().value
    #expect(commands(of: 1).contains("EVAL p:k 5:value"))
  }

  @Test func `memory forgets a fill that the server has refused`() async throws {
    let server = try server { _, command in
      command.first == "PING" || command.first == "CLIENT" ? "+OK\r\n" : "_\r\n"
    }
    let redis = try Redis(.tcp(host: "127.0.0.1", port: server.port))
    let shared = RedisCache(redis, prefix: "p:")
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let origin = FunctionSource<String, Data>.signal { _ in .just(Data([1])) }
    let cache = memory.following(shared).layered(over: shared.layered(over: origin))
    try await shared.tracks()

    #expect(try await cache.get("k").value == Data([1]))
    for _ in 0..<2 { try await shared.flush().value }

    #expect(memory.count == 0)
  }

  @Test func `a long value is told from others by its length and its ends`() async throws {
    let server = try server { connection, command in
      command.first == "SET" && connection == 1 ? nil : "_\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)
    let (head, end) = (String(repeating: "h", count: 128), String(repeating: "e", count: 128))

    await fill(cache, "k", head + String(repeating: "b", count: 1_000) + end)
    try await cache.flush().value

    #expect(commands(of: 2).contains("EVAL p:k 1256:\(head)\(end)"))
  }

  /// A refusal to track ends a connection that works.
  ///
  /// The fill is sent behind the command that is refused.
  @Test func `a fill of a connection that does not track is taken back`() async throws {
    let (isFilling, isTold) = (Locked(false), DispatchSemaphore(value: 0))
    let server = try server { connection, command in
      switch command.first {
      case "EVAL" where connection == 1: isFilling.withLock { $0 = true }
      case "PING" where connection == 1 && isFilling.withLock { $0 }: isTold.wait()
      default: break
      }
      switch command.first {
      case "CLIENT": return command.last == "b/" && connection == 1 ? "-ERR x\r\n" : "+OK\r\n"
      case "SET": return connection == 1 ? "" : "+OK\r\n"
      case "PING": return "+OK\r\n"
      default: return "_\r\n"
      }
    }
    let redis = try Redis(.tcp(host: "127.0.0.1", port: server.port))
    let cache = RedisCache(redis, prefix: "p:", form: .plain)
    try await cache.tracks()
    _ = cache.apply(.fill("k", Stamped(Data("value".utf8)), FillToken()))
    while commands(of: 1).suffix(2) != ["EVAL p:k", "PING"] { await Task.yield() }
    let further = RedisCache(redis, prefix: "b/")
    while redis.loop.nodes[0].withState({ $0.pipeline.count }) < 2 { await Task.yield() }
    isTold.signal()
    while commands(of: 2).isEmpty { await Task.yield() }
    try await further.flush().value

    #expect(commands(of: 2).contains("EVAL p:k 5:value"))
  }

  @Test func `lost connections are ended until the server has answered`() async throws {
    let server = try server { connection, command in
      if connection < 3, command.first == "SET" || command.contains("KILL") { return nil }
      return "+OK\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    for _ in 0..<2 { _ = try? await cache.set(Data(), for: "k").value }
    while (try? await cache.flush().value) == nil { await Task.yield() }

    #expect(commands(of: 2).first == "CLIENT KILL ID 1")
    #expect(commands(of: 3).prefix(2) == ["CLIENT KILL ID 1", "CLIENT KILL ID 2"])
  }

  @Test func `a connection ends those of the same run only`() throws {
    typealias Answer = Result<RESPValue, RedisError>
    let answers: [Answer] = [
      .success(.map([.bytes(Data("id".utf8)), .integer(3)])),
      .success(.simple("# Server\r\nrun_id:a\r\n")),
    ]
    let session = try #require(RedisSession(answers))
    #expect(session.run == "a" && session.number == 3)
    let malformed: [[Answer]] = [
      [], [.success(.null)], [.success(.map([])), .success(.simple("run_id:a"))],
      [.success(.map([.bytes(Data("id".utf8))])), answers[1]],
      [answers[0], .failure(.server(message: "NOPERM"))], [.success(.simple("OK")), answers[1]],
    ]
    for answers in malformed { #expect(RedisSession(answers) == nil) }

    let connection = RedisConnection(
      0, .init(deadline: 1, heartbeat: 1), try WakePipe(), to: .unix(path: "")
    ).nodes[0]
    for number in 0..<40 {
      let other = try #require(
        RedisSession([
          .success(.map([.bytes(Data("id".utf8)), .integer(Int64(number))])), answers[1],
        ]))
      connection.becomeReady(as: other, at: 0)
      connection.becomeReady(as: nil, at: 0)
    }
    #expect(connection.withState { $0.sessions.count } == RedisSession.limit)
    let later = try #require(RedisSession([answers[0], .success(.simple("run_id:b"))]))
    connection.becomeReady(as: later, at: 0)
    #expect(connection.withState { $0.sessions } == [later])
  }
}

/// The same with a real server.
@Suite(.withServer, .timeLimit(.minutes(1))) struct LostFillServerTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  /// The server carries out the fill after the other process's set, when both have been sent to a
  /// stopped server.
  @Test(arguments: [RedisForm.stamped, .plain], [RedisTracking.byPrefix, .byKey])
  func `a fill does not stay over a write whose report was lost`(
    form: RedisForm, tracking: RedisTracking
  ) async throws {
    let redis = try scene.client(tracking: tracking, deadline: .milliseconds(300))
    let cache = RedisCache(redis, prefix: "p:", form: form)
    let other = RedisCache(try scene.client(), prefix: "p:", form: form)
    try await cache.tracks()
    #expect(try await cache.found("k") == nil)
    try await other.flush().value
    let token = FillToken()

    scene.server.pause()
    let write = other.set(Data("new".utf8), for: "k")
    _ = try? await cache.apply(.fill("k", Stamped(Data("old".utf8)), token)).collect().value
    scene.server.resume()
    try await write.value
    while (try? await redis.ping().value) == nil { await Task.yield() }

    #expect(try await other.found("k") != Data("old".utf8))
  }

  /// The server carries out both in one turn, after which it would report neither to the other.
  @Test(arguments: [RedisTracking.byPrefix, .byKey], [true, false])
  func `a fill does not win over a write that the server carries out just before`(
    tracking: RedisTracking, isRemoval: Bool
  ) async throws {
    let redis = try scene.client(tracking: tracking)
    let cache = RedisCache(redis, prefix: "p:")
    let other = RedisCache(try scene.client(), prefix: "p:")
    if isRemoval { try await other.set(Data("older".utf8), for: "k").value }
    try await cache.tracks()
    _ = try await cache.found("k")
    try await other.flush().value
    let token = FillToken()

    for _ in 0..<10 {
      scene.server.pause()
      let write = isRemoval ? other.remove("k") : other.set(Data("new".utf8), for: "k")
      let fill = cache.apply(.fill("k", Stamped(Data("old".utf8)), token))
      scene.server.resume()
      try await write.value
      _ = try await fill.collect().value
      try await redis.ping().value
      try await redis.ping().value

      #expect(try await other.found("k") == (isRemoval ? nil : Data("new".utf8)))
    }
  }

  @Test(arguments: [RedisForm.stamped, .plain])
  func `a value that is taken back goes only if it is still there`(form: RedisForm) async throws {
    let cache = try scene.cache("p:", form: form)
    let connection = cache.route(of: "k")
    let long = String(repeating: "o", count: 500)
    for (text, other) in [("old", "new"), ("", "x"), (long, ""), ("1" + long, "2" + long)] {
      let value = Stamped(Data(text.utf8))
      let stored = try #require(cache.stored(value, isFill: true))
      for isOverwritten in [true, false] {
        let key = cache.serverKey("k")
        connection.submit(stored.set(key)) { _ in }
        if isOverwritten { try await cache.set(Data(other.utf8), for: "k").value }
        connection.takeBack(StoredValue.removal(of: key, ifEqualTo: stored.fingerprint))
        let expected = isOverwritten ? Data(other.utf8) : nil
        #expect(try await cache.found("k") == expected, "\(text.prefix(5)) \(isOverwritten)")
        try await cache.remove("k").value
      }
    }
  }

  @Test func `a lost connection of the same server is ended by the next one`() async throws {
    let redis = try scene.client(deadline: .milliseconds(300))
    try await redis.ping().value
    scene.server.pause()
    while (try? await redis.ping().value) != nil {}
    scene.server.resume()
    while (try? await redis.ping().value) == nil { await Task.yield() }

    let clients = try scene.server.command("CLIENT", "LIST")
    #expect(clients.split(separator: "\n").count == 2, "this client and the one that asks")
  }
}
