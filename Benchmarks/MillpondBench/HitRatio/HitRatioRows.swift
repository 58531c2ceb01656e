import Foundation
import MillpondCore
import MillpondSignals

/// Returns the row about hit ratios: hits in percent of the accesses, of MemoryCache, of a cache
/// that drops the least recently used value (LRU), and of the optimum, which knows the future.
///
/// Each trace is replayed at capacities that are shares of its different keys. One that knows sizes
/// is replayed with capacities in bytes too; the optimum of those is unknown, since the choice of
/// values of different sizes is NP-hard. The targets are for traces without sizes.
func hitRatioRows() -> [Row] {
  [
    Row(
      "hit-ratio", "hits in percent of accesses, at shares of the keys of a trace, beside LRU"
    ) { run, report in
      let files = try run.traces.map { try TraceFile.all(in: $0) } ?? []
      let made = Workload.all(length: run.count(400_000, quick: 20_000))
      // One at a time, because they are long.
      let traces: [() throws -> Trace] =
        files.isEmpty
        ? made.map { made in { made.trace() } } : files.map { file in { try file.read() } }
      var summary = HitRatioSummary()
      for trace in traces {
        let trace = try trace()
        let optimum = Optimum(of: trace)
        var gains: [HitRatioGain] = []
        for percent in run.isQuick ? [1, 10] : [0.1, 1, 5, 10, 25] {
          let (sample, gain) = trace.sample(at: percent, beside: optimum)
          gains += [gain].compactMap(\.self)
          report(sample)
          if trace.sizes != nil { trace.samplesBySize(at: percent).forEach(report) }
        }
        if !gains.isEmpty { summary.traces.append(gains) }
      }
      summary.samples.forEach(report)
    }
  ]
}

/// The gain over a least recently used cache, in points.
struct HitRatioGain {
  /// The least capacity that counts for the targets; smaller ones are only shown.
  static let leastCapacity = 100

  let place: String
  let ours: Double
  let optimum: Double
}

/// The gains on the traces that count.
struct HitRatioSummary {
  var traces: [[HitRatioGain]] = []

  /// The mean of each trace's mean, and the worst of all.
  var samples: [Sample] {
    guard let worst = traces.joined().min(by: { $0.ours < $1.ours }) else { return [] }
    return [
      Sample(
        name: "hit-ratio-gain", summary: "the mean of each trace's mean gain over LRU",
        unit: "points", value: mean(\.ours),
        floors: [Sample.Floor(name: "optimum", value: mean(\.optimum))],
        targets: [Target(atLeast: 5.5)]),
      Sample(
        name: "hit-ratio-worst", summary: "the worst result against LRU: \(worst.place)",
        unit: "points", value: worst.ours, targets: [Target(atLeast: -6)]),
    ]
  }

  private func mean(_ gain: (HitRatioGain) -> Double) -> Double {
    let means = traces.map { $0.map(gain).reduce(0, +) / Double($0.count) }
    return means.reduce(0, +) / Double(means.count)
  }
}

extension Trace {
  /// Replays at a share of the keys; the gain is nil if it doesn't count.
  func sample(at percent: Double, beside optimum: Optimum) -> (Sample, HitRatioGain?) {
    let limit = Limit.count(percent, of: self)
    let (ours, least) = (hits(limit), leastRecentlyUsedHits(limit))
    let best = Double(optimum.hits(capacity: limit.capacity)) / Double(keys.count) * 100
    let sample = Sample(
      name: "hit-ratio-\(name)-\(short(percent))%", summary: "room for \(limit.capacity) values",
      unit: "%", value: ours.hitRatio,
      floors: [
        Sample.Floor(name: "LRU", value: least.hitRatio),
        Sample.Floor(name: "optimum", value: best),
      ], isSumRight: max(ours.hitRatio, least.hitRatio) <= best)
    let isCounted = sizes == nil && limit.capacity >= HitRatioGain.leastCapacity
    let gain = HitRatioGain(
      place: "\(name) at \(short(percent)) %", ours: ours.hitRatio - least.hitRatio,
      optimum: best - least.hitRatio)
    return (sample, isCounted ? gain : nil)
  }

  /// Replays at a share of the bytes of all values: the hits, and the bytes of the hits.
  func samplesBySize(at percent: Double) -> [Sample] {
    let limit = Limit.bytes(percent, of: self)
    let (ours, least) = (hits(limit), leastRecentlyUsedHits(limit))
    return [("bytes", \HitCounts.hitRatio), ("bytes-hit", \HitCounts.byteRatio)].map {
      Sample(
        name: "hit-ratio-\(name)-\($0)-\(short(percent))%",
        summary: "room for \(limit.capacity) bytes", unit: "%", value: ours[keyPath: $1],
        floors: [Sample.Floor(name: "LRU", value: least[keyPath: $1])])
    }
  }

  private func leastRecentlyUsedHits(_ limit: Limit) -> HitCounts {
    var cache = LeastRecentlyUsed(limit, keyCount: keyCount)
    return hitCounts { cache.isHit($0) }
  }

  /// Plays the trace to our cache in its ordinary use: a get, and a set after a miss.
  func hits(_ limit: Limit, policy: EvictionPolicy = .adaptive) -> HitCounts {
    let cache: MemoryCache<UInt64, Int> =
      switch limit {
      case .count(let limit): MemoryCache(countLimit: limit, policy: policy)
      case .bytes(let limit): MemoryCache(costLimit: limit, policy: policy, cost: { $0 })
      }
    let isHit = Kept(false)
    return hitCounts { access in
      isHit.value = false
      cache.get(access.key).subscribe(onNext: { _ in isHit.value = true })
      if !isHit.value { cache.set(access.size, for: access.key) }
      return isHit.value
    }
  }
}
