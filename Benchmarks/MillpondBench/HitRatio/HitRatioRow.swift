import Foundation
import MillpondCore
import MillpondSignals

/// Returns the row about hit ratios: hits in percent of the accesses, of MemoryCache, of its policy
/// that drops the least recently used value (LRU), and of the optimum, which knows the future.
///
/// Each workload is replayed at capacities that are shares of its different keys. Capacities below
/// a hundred are only shown.
func hitRatioRow() -> Row {
  Row(
    "hit-ratio", "hits in percent of accesses, at shares of the keys of a workload, beside LRU"
  ) { run, report in
    var gains: [[HitRatioGain]] = []
    for workload in try workloads(run) {
      let optimum = Optimum(of: workload.keys)
      let count = Double(Set(workload.keys).count)
      gains.append([])
      for percent in run.isQuick ? [1, 10] : [0.1, 1, 5, 10, 25] {
        let capacity = max(1, Int((count * percent / 100).rounded()))
        let (ours, least) = (
          workload.hitRatio(.adaptive, capacity), workload.hitRatio(.leastRecentlyUsed, capacity)
        )
        let best = Double(optimum.hits(capacity: capacity)) / Double(workload.keys.count) * 100
        report(
          Sample(
            name: "hit-ratio-\(workload.name)-\(short(percent))%",
            summary: "room for \(capacity) values", unit: "%", value: ours,
            floors: [
              Sample.Floor(name: "LRU", value: least), Sample.Floor(name: "optimum", value: best),
            ], isSumRight: max(ours, least) <= best))
        if capacity < 100 { continue }
        gains[gains.count - 1].append((ours - least, best - least))
      }
    }
    report(hitRatioGain(gains))
  }
}

/// The gain over a least recently used cache, in points, and that of the optimum.
typealias HitRatioGain = (ours: Double, optimum: Double)

/// Returns the mean of each workload's mean gain.
func hitRatioGain(_ gains: [[HitRatioGain]]) -> Sample {
  func mean(_ numbers: [Double]) -> Double? {
    numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
  }
  return Sample(
    name: "hit-ratio-gain", summary: "the mean of each workload's mean gain over LRU",
    unit: "points", value: mean(gains.compactMap { mean($0.map(\.ours)) }),
    floors: [
      Sample.Floor(name: "optimum", value: mean(gains.compactMap { mean($0.map(\.optimum)) }))
    ],
    targets: [Target(atLeast: 5.5)])
}

private func workloads(_ run: Run) throws -> [Workload] {
  guard let folder = run.traces else {
    var generator = WorkloadGenerator(length: run.count(400_000, quick: 20_000))
    return generator.all()
  }
  let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    .filter { $0.hasSuffix(".u64") || $0.hasSuffix(".u64.xz") }
  if files.isEmpty { throw Trouble("\(folder): no traces there; see --help") }
  return try files.map { try Workload(traceAt: URL(filePath: folder).appending(path: $0)) }
}

extension Workload {
  /// Plays it to a memory cache in its ordinary use: a get, and a set after a miss.
  func hitRatio(_ policy: EvictionPolicy, _ capacity: Int) -> Double {
    let cache = MemoryCache<UInt64, Void>(countLimit: capacity, policy: policy)
    let isHit = Kept(false)
    let hits = keys.count { key in
      isHit.value = false
      cache.get(key).subscribe(onNext: { isHit.value = true })
      if !isHit.value { cache.set((), for: key) }
      return isHit.value
    }
    return Double(hits) / Double(keys.count) * 100
  }
}
