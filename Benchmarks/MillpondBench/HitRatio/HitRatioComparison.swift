/// The hit ratios of all contenders on a trace, at some capacities.
struct HitRatioComparison {
  private let trace: Trace
  private let optimum: Optimum

  init(_ trace: Trace) {
    self.trace = trace
    optimum = Optimum(of: trace)
  }

  /// - Parameter percents: Shares of the trace's keys, and of their bytes if it knows sizes.
  func cells(at percents: [Double]) -> [HitRatioCell] {
    let bySize = trace.sizes == nil ? [] : percents.map(cellsBySize)
    return percents.map(cellByCount) + bySize.map(\.0) + bySize.map(\.1)
  }

  private func cellByCount(_ percent: Double) -> HitRatioCell {
    let limit = Limit.count(percent, of: trace)
    let hits = optimum.hits(capacity: limit.capacity)
    return cell(
      .count, percent, limit, leastRecentlyUsed(limit).hitRatio, ours(limit).hitRatio,
      optimum: Double(hits) / Double(trace.keys.count) * 100)
  }

  private func cellsBySize(_ percent: Double) -> (hits: HitRatioCell, bytes: HitRatioCell) {
    let limit = Limit.bytes(percent, of: trace)
    let (leastRecentlyUsed, ours) = (leastRecentlyUsed(limit), ours(limit))
    return (
      cell(.bytes, percent, limit, leastRecentlyUsed.hitRatio, ours.hitRatio),
      cell(.bytesHit, percent, limit, leastRecentlyUsed.byteRatio, ours.byteRatio)
    )
  }

  private func leastRecentlyUsed(_ limit: Limit) -> HitCounts {
    var cache = LeastRecentlyUsed(limit, keyCount: trace.keyCount)
    return trace.hitCounts { cache.isHit($0) }
  }

  private func ours(_ limit: Limit) -> HitCounts {
    let cache = Contender(limit)
    return trace.hitCounts { cache.isHit($0) }
  }

  private func cell(
    _ kind: HitRatioCell.Kind, _ percent: Double, _ limit: Limit, _ leastRecentlyUsed: Double,
    _ ours: Double, optimum: Double? = nil
  ) -> HitRatioCell {
    HitRatioCell(
      trace: trace.name, kind: kind, percent: percent, capacity: limit.capacity,
      leastRecentlyUsed: leastRecentlyUsed, ours: ours, optimum: optimum,
      isCounted: trace.sizes == nil && limit.capacity >= HitRatioCell.leastCapacity)
  }
}
