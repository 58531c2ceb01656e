import Dispatch
import Foundation
import Millpond
import MillpondRedis
import MillpondSignals
import Testing

/// Servers that break the protocol, are too old, or say nothing.
@Suite(.timeLimit(.minutes(1))) struct FaultyServerTests {
  @Test func `a malformed reply ends the connection, and a read is repeated on the next one`()
    async throws
  {
    let server = try ScriptedServer { connection, command in
      if command.first == "HELLO" { return "+OK\r\n" }
      return connection == 1 ? "?\r\n" : "$3\r\nnew\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "", form: .plain)

    #expect(try await cache.found("k") == Data("new".utf8))
    #expect(server.connections == 2)
  }

  @Test(arguments: ["?\r\n", "$99999999999\r\n", "*9999999\r\n", ":1x\r\n"])
  func `a write that is answered with nonsense fails`(answer: String) async throws {
    let server = try ScriptedServer { _, command in
      command.first == "HELLO" ? "+OK\r\n" : answer
    }
    let cache = RedisCache(try server.client(), prefix: "")

    await #expect { try await cache.set(Data(), for: "k").value } throws: { error in
      if case .malformedReply? = Self.reason(error) { true } else { false }
    }
  }

  @Test func `an answer without a command ends the connection`() async throws {
    let server = try ScriptedServer { connection, command in
      if command.first == "HELLO" { return "+OK\r\n" }
      return connection == 1 ? "$1\r\na\r\n$1\r\nb\r\n" : "$1\r\nc\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "", form: .plain)
    _ = try await cache.found("k")

    while server.connections < 2 { await Task.yield() }
    #expect(try await cache.found("k") == Data("c".utf8))
  }

  @Test(arguments: [0, 3_000])
  func `a set after a fill is not removed when the fill is confirmed`(others: Int) async throws {
    let (commands, held) = (Locked<[String]>([]), DispatchSemaphore(value: 0))
    let server = try ScriptedServer { _, command in
      commands.withLock { $0.append(command.joined(separator: " ")) }
      if command == ["SET", "k", "1", "NX"] { held.wait() }
      return ["GET", "EVAL"].contains(command.first) ? "$-1\r\n" : "+OK\r\n"
    }
    // Without tracking nothing else refuses the fill.
    let cache = RedisCache(try server.client(), prefix: "", form: .plain)

    _ = cache.apply(.fill("k", Stamped(Data("1".utf8)), FillToken()))
    while !commands.withLock({ $0 }).contains("SET k 1 NX") { await Task.yield() }
    cache.set(Data("2".utf8), for: "k")
    for number in 0..<others { cache.set(Data(), for: "o\(number)") }
    held.signal()
    for _ in 0..<2 { try await cache.flush().value }

    #expect(commands.withLock { $0 }.contains("SET k 1 NX"))
    #expect(!commands.withLock { $0 }.contains { $0.hasPrefix("EVAL") && $0.hasSuffix("1:1") })
  }

  @Test
  func `a removal whose connection is lost fails, since the next one may not know its cursor`()
    async throws
  {
    let cursors = Locked<[String]>([])
    let server = try ScriptedServer { connection, command in
      guard command.first == "SCAN" else { return "+OK\r\n" }
      cursors.withLock { $0.append("\(connection) \(command[1])") }
      return command[1] == "0" ? "*2\r\n$1\r\n7\r\n*0\r\n" : nil
    }
    let cache = RedisCache(try server.client(), prefix: "p/")

    await #expect(throws: CacheError.self) { try await cache.removeAll().value }

    #expect(cursors.withLock { $0 } == ["1 0", "1 7"])
  }

  @Test func `memory keeps nothing that the server has not read or written`() async throws {
    let server = try ScriptedServer { _, command in
      ["GET", "EVAL"].contains(command.first) ? "-LOADING x\r\n" : "+OK\r\n"
    }
    let redis = try Redis(.tcp(host: "127.0.0.1", port: server.port), tracking: .byKey)
    let shared = RedisCache(redis, prefix: "")
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let origin = FunctionSource<String, Data>.signal { _ in .just(Data([1])) }
    let cache = memory.following(shared).layered(over: shared.layered(over: origin))
    while !redis.isTracking { _ = try? await shared.flush().value }

    for freshness in [Freshness.any, .reload] {
      #expect(try await cache.get("k", freshness: freshness).value == Data([1]))
      _ = try? await shared.flush().value
      #expect(memory.count == 0)
    }
  }

  @Test func `limits of time may be as long as they can be`() async throws {
    let server = try ScriptedServer { _, _ in "+OK\r\n" }
    let redis = try Redis(
      .tcp(host: "127.0.0.1", port: server.port), deadline: .seconds(Int64.max),
      heartbeat: .seconds(Int64.max), tracking: .off)

    try await redis.ping().value
    try await redis.ping().value
  }

  @Test func `a part of a reply is forgotten with its connection`() async throws {
    let server = try ScriptedServer { connection, command in
      if connection == 2 { return command.first == "HELLO" ? "+OK\r\n" : "$3\r\nnew\r\n" }
      switch command.last {
      case "3": return "+OK\r\n"
      case "k": return "$12\r\nthe first"
      default: return nil
      }
    }
    let cache = RedisCache(try server.client(), prefix: "", form: .plain)
    async let first = cache.found("k")
    async let second = cache.found("end")

    #expect(try await [first, second] == [Data("new".utf8), Data("new".utf8)])
  }

  @Test func `messages of other kinds between the answers change nothing`() async throws {
    let server = try ScriptedServer { _, command in
      if command.first == "HELLO" { return ">1\r\n+hello\r\n%1\r\n+proto\r\n:3\r\n" }
      return ">1\r\n+x\r\n>2\r\n+invalidate\r\n*1\r\n:1\r\n>3\r\n+a\r\n+b\r\n_\r\n$1\r\na\r\n"
    }
    let cache = RedisCache(try server.client(), prefix: "", form: .plain)

    for _ in 0..<3 { #expect(try await cache.found("k") == Data("a".utf8)) }
    #expect(server.connections == 1)
  }

  @Test func `a server that never answers the greeting is given up, and tried again`() async throws
  {
    let server = try ScriptedServer { connection, command in
      if connection == 1 { return "" }
      return command.first == "HELLO" ? "+OK\r\n" : "$1\r\na\r\n"
    }
    let cache = RedisCache(
      try server.client(deadline: .milliseconds(100)), prefix: "", form: .plain)
    var error: (any Error)?
    do { _ = try await cache.found("k") } catch let failure { error = failure }
    #expect(Self.reason(error) == .timedOut)

    while (try? await cache.found("k")) != Data("a".utf8) { await Task.yield() }
    #expect(server.connections == 2)
  }

  @Test func `a server without the protocol's third version is refused with its reason`()
    async throws
  {
    let server = try ScriptedServer { _, _ in "-ERR unknown command `HELLO`\r\n" }

    await #expect {
      try await RedisCache(try server.client(), prefix: "").get("k").value
    } throws: {
      Self.reason($0) == .refused(message: "ERR unknown command `HELLO`")
    }
  }

  @Test func `gets fail where changes are not reported as they should be`() async throws {
    let server = try ScriptedServer { _, command in
      switch command.first {
      case "CLIENT": "-ERR unknown subcommand\r\n"
      case "GET": "$-1\r\n"
      default: "+OK\r\n"
      }
    }
    let redis = try Redis(.tcp(host: "127.0.0.1", port: server.port))
    try await redis.ping().value
    let cache = RedisCache(redis, prefix: "")
    var error: (any Error)?
    while error == nil {
      do { _ = try await cache.found("k") } catch let failure { error = failure }
    }

    #expect(Self.reason(error) == .refused(message: "ERR unknown subcommand") || Self.isOpen(error))
  }

  @Test func `a fill is removed again if another process wrote its key before it arrived`()
    async throws
  {
    let commands = Locked<[String]>([])
    let server = try ScriptedServer { _, command in
      commands.withLock { $0.append(command.joined(separator: " ")) }
      return switch command.first {
      case "SET": ">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\np:k\r\n+OK\r\n"
      case "GET", "EVAL": "$-1\r\n"
      default: "+OK\r\n"
      }
    }
    let redis = try Redis(.tcp(host: "127.0.0.1", port: server.port))
    let cache = RedisCache(redis, prefix: "p:", form: .plain)
    try await redis.ping().value

    let outcome = cache.apply(.fill("k", Stamped(Data()), FillToken()))
    for try await _ in outcome.values {}
    _ = try await cache.found("other")

    #expect(commands.withLock { $0 }.contains { $0.hasPrefix("EVAL") && $0.hasSuffix("p:k 0:") })
  }

  /// The server answers other commands meanwhile, so its connection does not count as silent.
  @Test func `changes are reported again after a confirmation that came too late`() async throws {
    let hasReconnected = DispatchSemaphore(value: 0)
    let server = try ScriptedServer { connection, command in
      if connection > 1 {
        hasReconnected.signal()
      } else if command.suffix(2) == ["PREFIX", "b/"] {
        _ = hasReconnected.wait(timeout: .now() + 10)
      }
      return "+OK\r\n"
    }
    let redis = try Redis(
      .tcp(host: "127.0.0.1", port: server.port), deadline: .milliseconds(200),
      heartbeat: .seconds(60))
    let first = RedisCache(redis, prefix: "a/")
    try await first.tracks()

    let second = RedisCache(redis, prefix: "b/")
    while !redis.isTracking || server.connections < 2 {
      try Task.checkCancellation()
      await Task.yield()
    }

    #expect(server.connections >= 2)
    withExtendedLifetime((first, second)) {}
  }

  @Test func `a removal fails if a set that came meanwhile fails`() async throws {
    let isSet = DispatchSemaphore(value: 0)
    let server = try ScriptedServer { _, command in
      switch command.first {
      case "PING":
        isSet.wait()
        isSet.signal()
        return "+PONG\r\n"
      case "EVAL": return "-ERR not now\r\n"
      case "SCAN": return "*2\r\n$1\r\n0\r\n*1\r\n$3\r\np:k\r\n"
      default: return "+OK\r\n"
      }
    }
    let cache = RedisCache(try server.client(), prefix: "p:")

    let removal = cache.removeAll()
    let outcome = cache.set(Data(), for: "k")
    isSet.signal()

    await #expect(throws: CacheError.self) { try await outcome.value }
    await #expect {
      try await removal.value
    } throws: {
      Self.reason($0) == .server(message: "ERR not now")
    }
  }

  private static func reason(_ error: (any Error)?) -> RedisError? {
    guard case .unavailable(_, let reason as RedisError)? = error as? CacheError else { return nil }
    return reason
  }

  private static func isOpen(_ error: (any Error)?) -> Bool {
    if case .circuitOpen? = error as? CacheError { true } else { false }
  }
}
