import Dispatch
import Foundation
import LocalRedis
import Millpond
import MillpondSignals
import Testing

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

  @Test func `a fill without an answer is taken back before anything else is sent`() async throws {
    let server = try server { connection, command in
      if command.first == "SET", connection == 1 { return nil }
      return command.first == "GET" ? "$-1\r\n" : "+OK\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    await fill(cache, "k", "value")
    #expect(try await cache.found("k") == nil)

    #expect(commands(of: 1) == ["SET p:k value"])
    #expect(commands(of: 2) == ["CLIENT KILL ID 1", "EVAL p:k 5 value", "GET p:k"])
  }

  @Test func `a fill is taken back until the server has answered`() async throws {
    let server = try server { connection, command in
      if connection < 4, ["SET", "EVAL"].contains(command.first) { return nil }
      return command.first == "GET" ? "$-1\r\n" : "+OK\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    await fill(cache, "k", "value")
    while (try? await cache.get("k").collect().value) == nil { await Task.yield() }

    for connection in 2...4 { #expect(commands(of: connection).contains("EVAL p:k 5 value")) }
    try await cache.flush().value
    #expect(commands(of: 4).filter { $0.hasPrefix("EVAL") }.count == 1)
  }

  /// The server answers something, so the connection lasts.
  @Test func `a fill that is answered too late is taken back on the same connection`() async throws
  {
    let isGivenUp = DispatchSemaphore(value: 0)
    let server = try server { _, command in
      guard command.first == "SET" else { return "+OK\r\n" }
      isGivenUp.wait()
      return "+OK\r\n"
    }
    let redis = try server.client(deadline: .milliseconds(300))
    let cache = RedisCache(redis, prefix: "p:", form: .plain)
    try await redis.ping().value

    await fill(cache, "k", "value")
    isGivenUp.signal()
    while !commands.withLock({ $0 }).contains(where: { $0.hasSuffix("EVAL p:k 5 value") }) {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test(arguments: ["-OOM x\r\n", "-READONLY x\r\n"])
  func `a fill that the server has refused is not taken back`(refusal: String) async throws {
    let server = try server { _, command in command.first == "SET" ? refusal : "+OK\r\n" }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    await fill(cache, "k", "value")
    try await cache.flush().value

    #expect(commands(of: 1) == ["SET p:k value", "PING"])
  }

  @Test func `a long value is compared by its length and its end`() async throws {
    let server = try server { connection, command in
      command.first == "SET" && connection == 1 ? nil : "+OK\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)
    let end = String(repeating: "e", count: 64)

    await fill(cache, "k", String(repeating: "b", count: 1_000) + end)
    try await cache.flush().value

    #expect(commands(of: 2).contains("EVAL p:k 1064 \(end)"))
  }

  @Test func `a connection of another run of the server is not ended`() async throws {
    let server = try ScriptedServer(description: nil) { [commands] connection, command in
      commands.withLock { $0.append("\(connection) " + command.joined(separator: " ")) }
      if command.first == "HELLO" { return "%1\r\n$2\r\nid\r\n:\(connection)\r\n" }
      return command.first == "SET" && connection == 1 ? nil : "+OK\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "p:", form: .plain)

    _ = try? await cache.set(Data(), for: "k").value
    try await cache.flush().value

    #expect(server.connections == 2)
    #expect(!commands.withLock { $0 }.contains { $0.contains("KILL") })
  }

  @Test func `sessions end their predecessor of the same run only`() {
    let a = [
      RESPValue.map([.bytes(Data("id".utf8)), .integer(3)]), .simple("# Server\r\nrun_id:a"),
    ]
    let b = [RESPValue.map([.bytes(Data("id".utf8)), .integer(4)]), .simple("run_id:b\r\nx:y")]
    let later = [RESPValue.map([.bytes(Data("id".utf8)), .integer(9)]), a[1]]

    #expect(RedisSession(a)?.run == "a")
    #expect(RedisSession(b)?.ending(RedisSession(a)) == nil)
    #expect(RedisSession(a)?.ending(RedisSession(a)) == nil)
    #expect(RedisSession(a)?.ending(nil) == nil)
    #expect(RedisSession(later)?.ending(RedisSession(a)) != nil)
    let malformed: [[RESPValue]] = [
      [], [.null], [.map([]), .simple("run_id:a")], [.map([.bytes(Data("id".utf8))]), a[1]],
      [a[0], .error("NOPERM")], [.simple("OK"), a[1]],
    ]
    for answers in malformed { #expect(RedisSession(answers) == nil) }
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

  @Test(arguments: [RedisForm.stamped, .plain])
  func `a value that is taken back goes only if it is still there`(form: RedisForm) async throws {
    let cache = try scene.cache("p:", form: form)
    let connection = cache.redis.connection(of: "k")
    for (text, other) in [("old", "new"), ("", "x"), (String(repeating: "o", count: 500), "")] {
      let value = Stamped(Data(text.utf8))
      let stored = try #require(cache.stored(value, isFill: true))
      for isOverwritten in [true, false] {
        let key = cache.serverKey("k")
        connection.submit(stored.set(key, [])) { _ in }
        if isOverwritten { try await cache.set(Data(other.utf8), for: "k").value }
        connection.takeBack(stored.takeBack(key))
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
