import Foundation
import LocalRedis
import Millpond
import MillpondRedis

/// A process of the tests: memory over a server, over an origin that answers when it is told to.
///
/// It reads one command a line, and answers each with one line. With the argument `serve` it only
/// runs a server, whose port it prints; with `run` or `cluster` it carries out a ``CoherenceRun`` of
/// so many steps for each line.
@main
struct RedisWorker {
  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.dropFirst().first == "serve" {
      try withExtendedLifetime(LocalRedis()) { server in
        answer("\(server.port)")
        while readLine() != nil {}
      }
      return
    }
    if arguments.count > 4, ["run", "cluster"].contains(arguments[1]),
      let port = UInt16(arguments[2]), let number = Int(arguments[4])
    {
      let server = RedisAddress.tcp(host: "127.0.0.1", port: port)
      let run = try CoherenceRun(
        arguments[1] == "cluster" ? .cluster([server]) : server, versions: arguments[3],
        process: number)
      answer("ready")
      while let line = readLine(), let steps = Int(line) {
        let findings = await run.findings(steps: steps)
        // Each kind once.
        let kinds = Dictionary(grouping: findings.wrong) { $0.prefix { $0 != ":" } }
        let shown = kinds.values.map { "\($0.count) of: \($0[0])" }.joined(separator: "; ")
        answer("\(findings.gets) \(findings.wrong.count) \(shown)")
      }
      return
    }
    guard arguments.count > 2, let port = UInt16(arguments[1]), let lease = Int(arguments[2]) else {
      return
    }
    let worker = try Worker(port: port, lease: .milliseconds(lease))
    answer("ready")
    while let line = readLine() {
      await answer(worker.carryOut(line.split(separator: " ").map { String($0) }))
    }
  }

  private static func answer(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}

private struct Worker: Sendable {
  private let shared: RedisCache
  private let memory = MemoryCache<String, Data>(countLimit: 10_000)
  private let cache: AnyCache<String, Data>
  private let origin = HeldOrigin()
  private let asked = Locked<[Signal<Data>]>([])

  init(port: UInt16, lease: Duration) throws {
    let redis = try Redis(
      .tcp(host: "127.0.0.1", port: port), connections: 2, deadline: .seconds(10))
    shared = RedisCache(redis, prefix: "work/", timeToLive: .after(.seconds(600)))
    cache = AnyCache(
      memory.following(shared)
        .layered(
          over: shared.layered(
            over: FunctionSource<String, Data>.signal { [origin] _ in origin.fetch() },
            leasing: shared, for: lease)
        )
        .reusingInFlight())
  }

  func carryOut(_ words: [String]) async -> String {
    do {
      switch (words.first, words.dropFirst().first, words.dropFirst(2).first) {
      case ("set", let key?, let value?):
        try await cache.set(Data(value.utf8), for: key).value
        return "done"
      case ("remove", let key?, _):
        try await cache.remove(key).value
        return "done"
      case ("get", let key?, _):
        return try await text(of: cache.get(key, freshness: .cachedOnly).value)
      case ("peek", let key?, _): return memory.now(key, Lookup()).map { text(of: $0) } ?? "nothing"
      case ("pass", _, _):
        // One round trip on each connection.
        try await shared.redis.ping().value
        return shared.redis.isTracking ? "tracking" : "not tracking"
      case ("ask", let key?, let count?): return ask(key, Int(count) ?? 0)
      case ("answers", _, _): return try await answers()
      case ("fetches", _, _): return "\(origin.count)"
      case ("supply", let value?, _):
        origin.supply(Data(value.utf8))
        return "done"
      default: return "what?"
      }
    } catch CacheError.miss {
      return "nothing"
    } catch {
      return "failed: \(error)"
    }
  }

  private func text(of data: Data) -> String { String(decoding: data, as: UTF8.self) }

  /// Starts so many gets, and does not wait for their answers.
  private func ask(_ key: String, _ count: Int) -> String {
    let gets = (0..<count).map { _ in cache.get(key).started() }
    asked.withLock { $0 = gets }
    return "asked"
  }

  /// Waits for the answers; returns their number and the distinct ones.
  private func answers() async throws -> String {
    var values: [String] = []
    for get in asked.withLock({ $0 }) { values.append(text(of: try await get.value)) }
    return "\(values.count) " + Set(values).sorted().joined(separator: ",")
  }
}

/// An origin that counts its fetches, and answers when it is supplied with a value.
private final class HeldOrigin: Sendable {
  private let values = PublishSubject<Data>()
  private let fetches = Locked(0)

  var count: Int { fetches.withLock { $0 } }

  func fetch() -> Signal<Data> {
    Signal { [values, fetches] observer, lifetime in
      values.signal.take(1).run(observer, lifetime)
      // Only now, since a value that is supplied before the subscription reaches nobody.
      fetches.withLock { $0 += 1 }
    }
  }

  func supply(_ value: Data) { values.next(value) }
}
