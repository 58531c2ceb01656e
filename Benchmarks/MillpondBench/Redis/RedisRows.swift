import Dispatch
import Foundation
import LocalRedis
import Millpond
import MillpondRedis

/// Returns the rows about a shared server, which runs beside this process and shares the processors.
func redisRows() -> [Row] {
  [16, 64].map { depth in
    Row(
      "redis-get-1k-x\(depth)", "gets of 1 KiB on one connection, \(depth) under way", unit: "µs",
      [Target(times: 1 / 0.6)], repetitions: 6, .median
    ) { (try gets(depth: depth), operations: $0.count(200_000, quick: 10_000)) }
  } + [
    Row(
      "redis-get-alone", "a single get of 1 KiB until its observer has it", unit: "µs",
      [Target(times: 1.3)], measure: measureLatency),
    Row(
      "redis-memory-hit", "a hit in memory that follows", [Target(times: 1.1)], repetitions: 15,
      .median
    ) { (try followingHits(), operations: $0.count(1_000_000, quick: 50_000)) },
  ]
}

/// A server of this machine's own, with one value of 1,000 bytes.
private struct Shared: Sendable {
  let server: LocalRedis
  let cache: RedisCache

  init() throws {
    if LocalRedis.program == nil {
      throw Trouble("neither redis-server nor valkey-server is installed", isAbsence: true)
    }
    server = try LocalRedis()
    cache = RedisCache(try Redis(.tcp(host: "127.0.0.1", port: server.port)), prefix: "bench:")
    try awaited(cache.set(Data(count: 1_000), for: "k"))
  }
}

/// Returns gets that are submitted as answers arrive, so that `depth` are always under way, beside
/// those of the server's own tool.
private func gets(depth: Int) throws -> [Work] {
  let shared = try Shared()
  let ours = Work(expected: { $0 * 1_000 }) { count in
    PipelinedGets(shared.cache, count: count).run(depth: depth)
  }
  var works = [ours]
  // One that is found runs long enough for its start not to count.
  if let tool = LocalRedis.find("redis-benchmark") ?? LocalRedis.find("valkey-benchmark") {
    works.append(
      Work("redis-benchmark") { count in
        let process = Process()
        process.executableURL = tool
        process.arguments =
          ["-p", "\(shared.server.port)", "-c", "1", "-P", "\(depth)"]
          + ["-n", "\(count)", "-q", "GET", "bench:k"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? count : 0
      })
  }
  return works
}

/// Gets of one key.
private final class PipelinedGets: Sendable {
  private let cache: RedisCache
  private let state: Locked<(unasked: Int, bytes: Int)>
  private let chains = DispatchGroup()

  init(_ cache: RedisCache, count: Int) {
    self.cache = cache
    state = Locked((count, 0))
  }

  /// Keeps `depth` of them under way, and returns the bytes of all.
  func run(depth: Int) -> Int {
    for _ in 0..<depth {
      chains.enter()
      ask()
    }
    chains.wait()
    return state.withLock { $0.bytes }
  }

  /// Asks once more after each answer.
  private func ask() {
    let asks = state.withLock { state in
      state.unasked -= 1
      return state.unasked >= 0
    }
    guard asks else { return chains.leave() }
    cache.get("k").subscribe(
      onNext: { value in self.state.withLock { $0.bytes += value.count } },
      onFailed: { _ in self.ask() }, onCompleted: { self.ask() })
  }
}

/// Measures single gets, from the call until the observer has the value, beside a blocking socket.
private func measureLatency(_ run: Run, _ sample: inout Sample) throws {
  let shared = try Shared()
  let socket = try BlockingSocket(port: shared.server.port)
  // The time of gets; the rest of a repetition doesn't count.
  let time = Kept(0.0)
  let ours = Work { count in
    (0..<count).count { _ in
      let (end, start, isFound) = (DispatchSemaphore(value: 0), wallSeconds(), Kept(false))
      shared.cache.get("k").subscribe(
        onNext: {
          time.value += wallSeconds() - start
          isFound.value = $0.count == 1_000
        },
        onFailed: { _ in end.signal() }, onCompleted: { end.signal() })
      end.wait()
      return isFound.value
    }
  }
  let bare = Work("a blocking socket") { count in
    let start = wallSeconds()
    defer { time.value += wallSeconds() - start }
    return (0..<count).count { _ in socket.get("bench:k") > 1_000 }
  }
  try sample.measure(
    [ours, bare], run.count(2_000, quick: 100), repetitions: run.count(15, quick: 3), .median,
    clock: { time.value })
}

/// Returns hits in memory that follows the server, beside memory alone.
private func followingHits() throws -> [Work] {
  let shared = try Shared()
  let (memory, other) = (
    MemoryCache<String, Data>(countLimit: 10), MemoryCache<String, Data>(countLimit: 10)
  )
  let cache = memory.following(shared.cache).layered(over: shared.cache)
  while !shared.cache.redis.isTracking { _ = try? awaited(shared.cache.redis.ping()) }
  try awaited(cache.set(Data([1]), for: "k"))
  other.set(Data([1]), for: "k")
  let alone = other.layered(over: EmptyCache())
  return [
    // The server runs as long as the work may be repeated.
    Work(prepare: { withExtendedLifetime(shared) {} }, run: { hits(in: cache, $0) }),
    Work("memory alone") { hits(in: alone, $0) },
  ]
}

@inline(never)
private func hits(in cache: some Cache<String, Data>, _ count: Int) -> Int {
  (0..<count).count { _ in cache.now("k", Lookup()) != nil }
}
