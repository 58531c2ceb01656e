import Dispatch
import Foundation
import Millpond
import MillpondRedis
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// The times without reports, in an order that no real server can be made to keep.
@Suite struct LostConnectionTests {
  private let origin = TestSource<Data>()
  private let memory = MemoryCache<String, Data>(countLimit: 10)
  private let held = DispatchSemaphore(value: 0)

  /// A connection that ends under a write, and one on which nothing is answered.
  @Test(arguments: [nil, ""])
  func `memory is empty before the first failure of a lost connection is known`(
    answer: String?
  ) async throws {
    let server = try ScriptedServer { [held] _, command in
      if !command.contains("end") { return "+OK\r\n" }
      held.wait()
      return answer
    }
    let redis = try Redis(
      .tcp(host: "127.0.0.1", port: server.port), deadline: .milliseconds(500))
    let shared = RedisCache(redis, prefix: "")
    let cache = memory.following(shared).layered(over: shared)
    while memory.count == 0 { _ = try? await cache.set(Data(), for: "k").value }
    let (counts, ended) = (Locked<[Int]>([]), Recorder<Void>())

    // A removal is not repeated, so its failure is the first that is known.
    ended.subscribe(
      to: shared.remove("end").onEnd { [memory] _ in
        counts.withLock { $0.append(memory.count) }
      })
    held.signal()
    try await ended.ended()

    #expect(counts.withLock { $0 } == [0])
  }

  @Test func `a value that was fetched before the reports began is not kept`() async throws {
    let server = try ScriptedServer { [held] _, command in
      if command.first == "CLIENT" { held.wait() }
      return "+OK\r\n"
    }
    let shared = RedisCache(try Redis(.tcp(host: "127.0.0.1", port: server.port)), prefix: "")
    let cache = memory.following(shared).layered(over: fetched)
    let reader = Recorder<Data>()
    reader.subscribe(to: cache.get("k"))
    try await origin.subscriptions(count: 1)

    held.signal()
    try await shared.tracks()
    origin.next(Data([1]))
    origin.completed()
    try await reader.ended()

    #expect(reader.values == [Data([1])])
    #expect(memory.count == 0)
  }

  @Test func `what was fetched while a connection was lost is not stored`() async throws {
    let commands = Locked<[String]>([])
    let server = try ScriptedServer { connection, command in
      commands.withLock { $0.append("\(connection) " + (command.first ?? "")) }
      if command.contains("end") { return connection == 1 ? nil : "$-1\r\n" }
      return ["GET", "EVAL"].contains(command.first) ? "$-1\r\n" : "+OK\r\n"
    }
    let shared = RedisCache(try Redis(.tcp(host: "127.0.0.1", port: server.port)), prefix: "")
    let readers = [Recorder<Data>(), Recorder<Data>()]
    for (number, reader) in readers.enumerated() {
      reader.subscribe(to: shared.layered(over: fetched).get("k\(number)"))
      try await origin.subscriptions(count: number + 1)
      if number == 1 { continue }
      #expect(try await shared.found("end") == nil, "read again on the second connection")
      try await shared.tracks()
    }
    origin.next(Data([1]))
    origin.completed()
    for reader in readers { try await reader.ended() }
    try await shared.flush().value

    #expect(commands.withLock { $0 }.filter { $0.hasSuffix("SET") } == ["2 SET"], "only the later")
  }

  /// The fill comes while the next connection is being made.
  @Test func `what was fetched before a connection was lost waits for no other one`()
    async throws
  {
    let commands = Locked<[String]>([])
    let server = try ScriptedServer { [held] connection, command in
      commands.withLock { $0.append("\(connection) " + (command.first ?? "")) }
      if command.contains("end") { return nil }
      if connection == 2, command.first == "CLIENT" { held.wait() }
      return command.first == "GET" ? "$-1\r\n" : "+OK\r\n"
    }
    let shared = RedisCache(try Redis(.tcp(host: "127.0.0.1", port: server.port)), prefix: "")
    let reader = Recorder<Data>()
    try await shared.tracks()
    reader.subscribe(to: shared.layered(over: fetched).get("k"))
    try await origin.subscriptions(count: 1)
    await #expect(throws: CacheError.self) { try await shared.remove("end").value }

    origin.next(Data([1]))
    origin.completed()
    held.signal()
    try await reader.ended()
    try await shared.tracks()
    try await shared.flush().value

    #expect(!commands.withLock { $0 }.contains("2 SET"))
  }

  /// No bytes follow, but the answers to the heartbeat.
  @Test func `a byte that is lost in a report leaves no old value in memory`() async throws {
    let report = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"
    for place in stride(from: 0, to: report.utf8.count, by: Effort.stride(3)) {
      var damaged = report
      damaged.unicodeScalars.remove(at: report.utf8.index(report.startIndex, offsetBy: place))
      let server = try ScriptedServer { [damaged] _, command in
        command.contains("end") ? ":0\r\n" + damaged : "+OK\r\n"
      }
      let redis = try Redis(
        .tcp(host: "127.0.0.1", port: server.port), heartbeat: .milliseconds(50))
      let shared = RedisCache(redis, prefix: "", form: .plain)
      let cache = memory.following(shared).layered(over: shared)
      while memory.count == 0 { _ = try? await cache.set(Data(), for: "k").value }

      shared.setIfAbsent(Data(), for: "end")

      while memory.count > 0 { await Task.yield() }
    }
  }

  private var fetched: FunctionSource<String, Data> {
    FunctionSource.signal { [origin] _ in origin.signal }
  }
}
