import Foundation
import Millpond
import MillpondSignals
import Testing

@testable import MillpondRedis

@Suite(.timeLimit(.minutes(1))) struct RedisStreamTests {
  /// The greeting's answer and a value for each get.
  private static func answer(_ command: [String]) -> String {
    switch command[0] {
    case "GET": "$3\r\n" + command[1].suffix(3) + "\r\n"
    case "CLIENT", "SET": "+OK\r\n"
    case "PING": "+PONG\r\n"
    default: "_\r\n"
    }
  }

  private func cache(
    _ address: RedisAddress = .tls(host: "host", port: 1), deadline: Duration = .seconds(30),
    _ streams: @escaping @Sendable () -> ScriptedStream
  ) throws -> RedisCache {
    let redis = try Redis(address, deadline: deadline) { _, _ in streams() }
    return RedisCache(redis, prefix: "", form: .plain)
  }

  @Test(arguments: [1, 7, 4_096])
  func `answers arrive in pieces of any size`(pieceSize: Int) async throws {
    let stream = ScriptedStream(pieceSize: pieceSize, Self.answer)
    let cache = try cache { stream }

    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 100..<200 {
        group.addTask {
          let value = try await cache.get("\(number)").value
          #expect(value == Data("\(number)".utf8))
        }
      }
      try await group.waitForAll()
    }

    #expect(stream.seen.overlaps == 0)
  }

  @Test func `a write begins when the last one has ended`() async throws {
    let stream = ScriptedStream(Self.answer)
    let cache = try cache { stream }
    _ = try await cache.get("abc").value
    stream.hold()

    let first = Task { try await cache.get("aaa").value }
    while stream.seen.commands.last != ["GET", "aaa"] { await Task.yield() }
    let second = Task { try await cache.get("bbb").value }
    for _ in 0..<1_000 { await Task.yield() }
    let isBehind = stream.seen.commands.last == ["GET", "aaa"]
    stream.release()

    #expect(isBehind && stream.seen.overlaps == 0)
    #expect(try await first.value == Data("aaa".utf8))
    #expect(try await second.value == Data("bbb".utf8))
  }

  @Test func `a value of many pieces passes in both directions`() async throws {
    let value = Data(repeating: 7, count: 8 << 20)
    let stream = ScriptedStream(pieceSize: 100_000) { command in
      command[0] == "GET"
        ? "$\(value.count)\r\n" + String(decoding: value, as: UTF8.self) + "\r\n"
        : Self.answer(command)
    }
    let cache = try cache { stream }

    try await cache.set(value, for: "k").value
    #expect(try await cache.get("k").value == value)
    #expect(stream.seen.commands.last { $0[0] == "SET" }?[2].utf8.count == value.count)
    #expect(stream.seen.doubleReads == 0, "bytes are asked for when the last ones are read")
  }

  @Test func `a stream that is given takes the place of plain TCP`() async throws {
    let cache = try cache(.tcp(host: "host", port: 1)) { ScriptedStream(Self.answer) }

    #expect(try await cache.get("abc").value == Data("abc".utf8))
  }

  @Test func `the failure of a stream is named by the first get and by those that follow`()
    async throws
  {
    struct Untrusted: Error {}
    let cache = try cache { ScriptedStream { _ in throw Untrusted() } }

    for _ in 0..<10 {
      await #expect {
        try await cache.get("k").value
      } throws: { error in
        (error as? CacheError)?.underlying as? RedisError == .streamFailed(message: "Untrusted()")
          && "\(error)".contains("Untrusted()")
      }
    }
  }

  @Test func `a stream that does not connect fails its get by the deadline, and is closed`()
    async throws
  {
    let streams = Locked<[ScriptedStream]>([])
    let cache = try cache(deadline: .milliseconds(50)) {
      let stream = ScriptedStream { _ in nil }
      streams.withLock { $0.append(stream) }
      return stream
    }

    await #expect {
      try await cache.get("k").value
    } throws: { ($0 as? CacheError)?.underlying as? RedisError == .timedOut }
    while streams.withLock({ $0[0].seen.closes }) == 0 { await Task.yield() }
  }

  @Test func `when a stream ends, memory is empty and the next one follows`() async throws {
    let streams = Locked<[ScriptedStream]>([])
    let cache = try cache {
      let stream = ScriptedStream(Self.answer)
      streams.withLock { $0.append(stream) }
      return stream
    }
    let memory = MemoryCache<String, Data>(countLimit: 10)
    let layers = memory.following(cache).layered(over: cache)
    while !cache.redis.isTracking { await Task.yield() }
    try await layers.set(Data([1]), for: "k").value
    #expect(memory.now("k", Lookup()) != nil)

    streams.withLock { $0[0] }.send(.ended(nil))
    while memory.now("k", Lookup()) != nil { await Task.yield() }
    #expect(try await cache.get("abc").value == Data("abc".utf8))

    #expect(streams.withLock { $0.count } == 2)
    #expect(streams.withLock { $0[0].seen.closes } == 1)
  }

  @Test func `events after the end, and of no write, change nothing`() async throws {
    let streams = Locked<[ScriptedStream]>([])
    let cache = try cache {
      let stream = ScriptedStream(Self.answer)
      streams.withLock { $0.append(stream) }
      return stream
    }
    _ = try await cache.get("abc").value
    let first = streams.withLock { $0[0] }

    for event in [RedisStreamEvent.written, .connected, .received(Data())] { first.send(event) }
    #expect(try await cache.get("abc").value == Data("abc".utf8))
    for event in [RedisStreamEvent.ended(nil), .received(Data("$".utf8)), .ended(nil), .connected] {
      first.send(event)
    }

    #expect(try await cache.get("abc").value == Data("abc".utf8))
  }

  @Test func `a closed client closes its stream`() async throws {
    let stream = ScriptedStream(Self.answer)
    let cache = try cache { stream }
    _ = try await cache.get("abc").value

    cache.redis.close()

    while stream.seen.closes == 0 { await Task.yield() }
  }
}

#if !canImport(Network)
  extension RedisStreamTests {
    @Test func `without a stream with TLS an encrypted address is refused, not sent in plain text`()
      throws
    {
      let refused = RedisError.noEncryption(address: "rediss://host:1")
      #expect(throws: refused) { try Redis(.tls(host: "host", port: 1)) }
      #expect(throws: refused) { try Redis(url: "rediss://user:secret@host:1/3") }
      #expect("\(refused)".contains("Redis over TLS on Linux"))
    }
  }
#endif
