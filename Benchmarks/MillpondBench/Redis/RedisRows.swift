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
      [Target(times: 1 / 0.6)]
    ) { try measureGets($0, &$1, depth: depth) }
  } + [
    Row(
      "redis-get-alone", "a single get of 1 KiB until its observer has it", unit: "µs",
      [Target(times: 1.3)], measure: measureLatency),
    Row(
      "redis-get-awaited", "the same until a waiting thread has it", unit: "µs",
      [Target(times: 1.3)], measure: measureAwaiting),
    Row(
      "redis-memory-hit", "a hit in memory that follows", [Target(times: 1.1)], measure: measureHits
    ),
  ]
}

/// A server of this machine's own, with one value of 1,000 bytes.
private struct Shared: Sendable {
  let server: LocalRedis
  let cache: RedisCache

  init() throws {
    if LocalRedis.program == nil {
      throw Absence(description: "neither redis-server nor valkey-server is installed")
    }
    server = try LocalRedis()
    cache = RedisCache(try Redis(.tcp(host: "127.0.0.1", port: server.port)), prefix: "bench:")
    try awaited(cache.set(Data(count: 1_000), for: "k"))
  }
}

/// Measures gets that are submitted as answers arrive, so that `depth` are always under way.
private func measureGets(_ run: Run, _ sample: inout Sample, depth: Int) throws {
  let shared = try Shared()
  let ours = Work(expected: { $0 * 1_000 }) { count in
    PipelinedGets(shared.cache, depth: depth, count: count).run()
  }
  var works = [ours]
  // One that is found runs long enough for its start not to count.
  if let tool = LocalRedis.find("redis-benchmark") ?? LocalRedis.find("valkey-benchmark") {
    works.append(
      Work("redis-benchmark", expected: { $0 }) { count in
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
  let count = run.count(200_000, quick: 10_000)
  try sample.measure(
    works.map { ($0, count) }, repetitions: run.count(6, quick: 2), .median,
    unit: .microseconds(1))
}

/// Gets of one key, of which so many are under way.
private final class PipelinedGets: Sendable {
  private let cache: RedisCache
  private let depth: Int
  private let state: Locked<(unasked: Int, unanswered: Int, bytes: Int)>
  private let end = DispatchSemaphore(value: 0)

  init(_ cache: RedisCache, depth: Int, count: Int) {
    self.cache = cache
    self.depth = depth
    state = Locked((count, count, 0))
  }

  func run() -> Int {
    for _ in 0..<depth { ask() }
    end.wait()
    return state.withLock { $0.bytes }
  }

  private func ask() {
    let asks = state.withLock { state in
      state.unasked -= 1
      return state.unasked >= 0
    }
    guard asks else { return }
    cache.get("k").subscribe(
      onNext: { value in self.state.withLock { $0.bytes += value.count } },
      onFailed: { _ in self.answered() }, onCompleted: { self.answered() })
  }

  private func answered() {
    let isLast = state.withLock { state in
      state.unanswered -= 1
      return state.unanswered == 0
    }
    if isLast { end.signal() } else { ask() }
  }
}

/// Measures single gets, from the call until the observer has the value, beside a blocking socket.
private func measureLatency(_ run: Run, _ sample: inout Sample) throws {
  let shared = try Shared()
  let socket = try BlockingSocket(port: shared.server.port)
  // The time of gets; the rest of a repetition doesn't count.
  let time = Kept(0.0)
  let ours = Work(expected: { $0 }) { count in
    var found = 0
    for _ in 0..<count {
      let (end, start, isFound) = (DispatchSemaphore(value: 0), wallSeconds(), Kept(false))
      shared.cache.get("k").subscribe(
        onNext: {
          time.value += wallSeconds() - start
          isFound.value = $0.count == 1_000
        },
        onFailed: { _ in end.signal() }, onCompleted: { end.signal() })
      end.wait()
      if isFound.value { found += 1 }
    }
    return found
  }
  let bare = Work("a blocking socket", expected: { $0 }) { count in
    let start = wallSeconds()
    defer { time.value += wallSeconds() - start }
    return (0..<count).count { _ in socket.get("bench:k") > 1_000 }
  }
  try sample.measureSingle(run, [ours, bare]) { time.value }
}

/// Measures single gets until a thread that waits for them has the value, beside a socket with a
/// thread of its own that hands the answers over.
private func measureAwaiting(_ run: Run, _ sample: inout Sample) throws {
  let shared = try Shared()
  let socket = try HandingSocket(port: shared.server.port)
  defer { socket.end() }
  let ours = Work(expected: { $0 }) { count in
    (0..<count).count { _ in waitForBytes(shared.cache.get("k")) == 1_000 }
  }
  let bare = Work("a socket with a thread", expected: { $0 }) { count in
    (0..<count).count { _ in socket.get("bench:k") > 1_000 }
  }
  try sample.measureSingle(run, [ours, bare], wallSeconds)
}

extension Sample {
  fileprivate mutating func measureSingle(
    _ run: Run, _ works: [Work], _ clock: () -> Double
  ) throws {
    let count = run.count(2_000, quick: 100)
    try measure(
      works.map { ($0, count) }, repetitions: run.count(15, quick: 3), .median,
      unit: .microseconds(1), clock: clock)
  }
}

/// Measures hits in memory that follows the server, beside memory alone.
private func measureHits(_ run: Run, _ sample: inout Sample) throws {
  let shared = try Shared()
  let (memory, other) = (
    MemoryCache<String, Data>(countLimit: 10), MemoryCache<String, Data>(countLimit: 10)
  )
  let cache = memory.following(shared.cache).layered(over: shared.cache)
  while !shared.cache.redis.isTracking { _ = try? awaited(shared.cache.redis.ping()) }
  try awaited(cache.set(Data([1]), for: "k"))
  other.set(Data([1]), for: "k")
  let alone = other.layered(over: EmptyCache())
  let count = run.count(1_000_000, quick: 50_000)
  let works = [
    Work(expected: { $0 }) { hits(in: cache, $0) },
    Work("memory alone", expected: { $0 }) { hits(in: alone, $0) },
  ]
  try sample.measure(
    works.map { ($0, count) }, repetitions: run.count(15, quick: 3), .median)
}

@inline(never)
private func hits(in cache: some Cache<String, Data>, _ count: Int) -> Int {
  var found = 0
  for _ in 0..<count where cache.now("k", Lookup()) != nil { found += 1 }
  return found
}
