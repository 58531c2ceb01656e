import Dispatch
import Foundation
import LocalRedis
import Millpond
import MillpondRedis

/// Measures gets that are submitted as answers arrive, so that `depth` are always under way.
func measureRedisGets(_ effort: NetworkEffort, depth: Int) throws -> NetworkFigures {
  let server = try LocalRedis()
  let cache = RedisCache(try Redis(.tcp(host: "127.0.0.1", port: server.port)), prefix: "bench:")
  waitForEnd(cache.set(Data(count: 1_000), for: "k"))
  let count = effort.requests * 500
  var figures = NetworkFigures()
  var (ours, bare): ([Double], [Double]) = ([], [])
  for round in 0...(effort.pairs / 3) {
    let start = ContinuousClock.now
    let bytes = PipelinedGets(cache, depth: depth, count: count).run()
    let rate = Double(count) / (ContinuousClock.now - start).seconds
    figures.isSumRight = figures.isSumRight && bytes == count * 1_000
    let other = try redisBenchmark(server, depth: depth, count: count)
    if round == 0 { continue }
    ours.append(rate)
    if let other { bare.append(other) }
  }
  (figures.ours, figures.bare) = (median(ours), median(bare))
  return figures
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

/// Returns the gets a second of the server's own tool; nil where it is not installed.
private func redisBenchmark(_ server: LocalRedis, depth: Int, count: Int) throws -> Double? {
  guard let tool = LocalRedis.find("redis-benchmark") ?? LocalRedis.find("valkey-benchmark") else {
    return nil
  }
  let process = Process()
  process.executableURL = tool
  process.arguments = [
    "-p", "\(server.port)", "-c", "1", "-P", "\(depth)", "-n", "\(count)", "--csv", "GET",
    "bench:k",
  ]
  let output = Pipe()
  process.standardOutput = output
  try process.run()
  let text = try output.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  // "test","rps",… and then the figures, each in quotation marks.
  let line = String(decoding: text, as: UTF8.self).split(separator: "\n").last ?? ""
  return line.split(separator: ",").dropFirst().first.flatMap { figure in
    Double(figure.filter { $0 != "\"" })
  }
}

/// Measures single gets, from the call until the observer has the value, beside a blocking socket.
func measureRedisLatency(_ effort: NetworkEffort) throws -> NetworkFigures {
  try measureSingleGets(effort) { cache in
    let (end, asked, time) = (DispatchSemaphore(value: 0), ContinuousClock.now, Kept(Duration.zero))
    cache.get("k").subscribe(
      onNext: { if $0.count == 1_000 { time.value = ContinuousClock.now - asked } },
      onFailed: { _ in end.signal() }, onCompleted: { end.signal() })
    end.wait()
    return time.value
  } bare: { socket, _ in
    let start = ContinuousClock.now
    return socket.get("bench:k") > 1_000 ? ContinuousClock.now - start : .zero
  }
}

/// Measures single gets until a thread that waits for them has the value, beside a socket with a
/// thread of its own that hands the answers over.
func measureRedisAwaiting(_ effort: NetworkEffort) throws -> NetworkFigures {
  try measureSingleGets(effort) { cache in
    let start = ContinuousClock.now
    return waitForBytes(cache.get("k")) == 1_000 ? ContinuousClock.now - start : .zero
  } bare: { _, socket in
    let start = ContinuousClock.now
    return socket.get("bench:k") > 1_000 ? ContinuousClock.now - start : .zero
  }
}

/// Measures gets in turns; a closure returns the time of one, or zero if its answer is wrong.
private func measureSingleGets(
  _ effort: NetworkEffort, ours: (RedisCache) -> Duration,
  bare: (BlockingSocket, HandingSocket) -> Duration
) throws -> NetworkFigures {
  let server = try LocalRedis()
  let cache = RedisCache(try Redis(.tcp(host: "127.0.0.1", port: server.port)), prefix: "bench:")
  waitForEnd(cache.set(Data(count: 1_000), for: "k"))
  let (socket, handing) = (
    try BlockingSocket(port: server.port), try HandingSocket(port: server.port)
  )
  defer { handing.end() }
  var figures = NetworkFigures()
  let count = effort.requests * 5
  func mean(_ get: () -> Duration) -> Double {
    var sum = Duration.zero
    for _ in 0..<count {
      let time = get()
      figures.isSumRight = figures.isSumRight && time > .zero
      sum += time
    }
    return sum.seconds / Double(count) * 1e6
  }
  var (first, second): ([Double], [Double]) = ([], [])
  for round in 0...effort.pairs {
    let pair = (mean { ours(cache) }, mean { bare(socket, handing) })
    if round == 0 { continue }
    first.append(pair.0)
    second.append(pair.1)
  }
  (figures.ours, figures.bare) = (median(first), median(second))
  return figures
}

/// Measures hits in memory that follows the server, beside memory alone.
func measureRedisMemory(_ effort: NetworkEffort) throws -> NetworkFigures {
  let server = try LocalRedis()
  let shared = RedisCache(try Redis(.tcp(host: "127.0.0.1", port: server.port)), prefix: "bench:")
  let (memory, other) = (
    MemoryCache<String, Data>(countLimit: 10), MemoryCache<String, Data>(countLimit: 10)
  )
  let cache = memory.following(shared).layered(over: shared)
  while !shared.redis.isTracking { waitForEnd(shared.redis.ping()) }
  waitForEnd(cache.set(Data([1]), for: "k"))
  other.set(Data([1]), for: "k")
  let alone = other.layered(over: EmptyCache())
  let count = effort.requests * 2_500
  var figures = NetworkFigures(ours: nil, bare: nil)
  var (ours, bare): ([Double], [Double]) = ([], [])
  for round in 0...effort.pairs {
    let start = ContinuousClock.now
    let found = hits(in: cache, count)
    let middle = ContinuousClock.now
    let foundAlone = hits(in: alone, count)
    let end = ContinuousClock.now
    figures.isSumRight = figures.isSumRight && found == count && foundAlone == count
    if round == 0 { continue }
    ours.append((middle - start).seconds / Double(count) * 1e9)
    bare.append((end - middle).seconds / Double(count) * 1e9)
  }
  (figures.ours, figures.bare) = (median(ours), median(bare))
  return figures
}

@inline(never)
private func hits(in cache: some Cache<String, Data>, _ count: Int) -> Int {
  var found = 0
  for _ in 0..<count where cache.now("k", Lookup()) != nil { found += 1 }
  return found
}

private func waitForEnd(_ signal: Signal<Void>) {
  let end = DispatchSemaphore(value: 0)
  signal.subscribe { if $0.isTerminal { end.signal() } }
  end.wait()
}
