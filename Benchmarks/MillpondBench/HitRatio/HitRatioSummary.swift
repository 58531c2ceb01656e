import Foundation

/// The summary of the cells, and the verdict on its targets.
struct HitRatioSummary: Encodable {
  /// The least mean gain over the least recently used cache, in points.
  static let gainTarget = 5.5

  /// The greatest loss against the least recently used cache, in points.
  static let lossTarget = 6.0

  /// The numbers of traces and cells that count.
  let traceCount: Int
  let cellCount: Int

  /// The mean over the traces of the mean over their cells, in points; nil if none count.
  let gain: Double?

  /// The same mean of the optimum's gain.
  let greatestGain: Double?

  /// The cell with the worst result against the least recently used cache.
  let worst: HitRatioCell?

  let isGainMet: Bool?
  let isLossMet: Bool?

  init(of cells: [HitRatioCell]) {
    let counted = cells.filter(\.isCounted)
    let traces = counted.byTrace
    traceCount = traces.count
    cellCount = counted.count
    gain = traces.compactMap { $0.map(\.gain).mean }.mean
    greatestGain = traces.compactMap { $0.compactMap(\.greatestGain).mean }.mean
    worst = counted.min { $0.gain < $1.gain }
    isGainMet = gain.map { $0 >= Self.gainTarget }
    isLossMet = worst.map { $0.gain >= -Self.lossTarget }
  }
}

extension HitRatioSummary: CustomStringConvertible {
  var description: String {
    guard let gain, let greatestGain, let worst else { return "No cell counts." }
    return """
      Over \(traceCount) traces without sizes, \(cellCount) cells with room for \
      \(HitRatioCell.leastCapacity) values at least, in points,
      the mean of each trace's mean:
        ours − LRU     \(points(gain)), target \(points(Self.gainTarget)): \(verdict(isGainMet))
        optimum − LRU  \(points(greatestGain))
        ours at worst  \(points(worst.gain)), target \(points(-Self.lossTarget)): \
      \(verdict(isLossMet)), in \(worst.label) at \(percents(worst.percent)) %
      """
  }

  private func verdict(_ isMet: Bool?) -> String {
    isMet == true ? "met" : "missed"
  }
}

/// Formats a difference of two hit ratios.
func points(_ number: Double) -> String {
  String(format: "%+.1f", number)
}

/// Formats a chosen share with no more digits than it has.
func percents(_ number: Double) -> String {
  String(format: "%g", number)
}

extension [Double] {
  /// The mean; nil without elements.
  var mean: Double? {
    isEmpty ? nil : reduce(0, +) / Double(count)
  }
}

extension [HitRatioCell] {
  /// The cells of each trace, by the names of the traces.
  fileprivate var byTrace: [[HitRatioCell]] {
    let groups = Dictionary(grouping: self, by: \.trace)
    return groups.keys.sorted().compactMap { groups[$0] }
  }
}
