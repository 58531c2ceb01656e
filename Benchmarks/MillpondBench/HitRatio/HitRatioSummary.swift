import Foundation

/// What the cells come to, and whether that was promised.
struct HitRatioSummary: Encodable {
  /// How many points more than the least recently used one, as a mean.
  static let gainTarget = 5.5

  /// How many points less than the least recently used one, at worst.
  static let lossTarget = 6.0

  /// How many traces and cells count.
  let traceCount: Int
  let cellCount: Int

  /// The mean over the traces of the mean over their cells, in points; nil if none count.
  let gain: Double?

  /// The same of what the optimum gains.
  let greatestGain: Double?

  /// Where the cache does worst, compared to the least recently used one.
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

/// A difference of two hit ratios.
func points(_ number: Double) -> String {
  String(format: "%+.1f", number)
}

/// A share that somebody chose: no more digits than it has.
func percents(_ number: Double) -> String {
  String(format: "%g", number)
}

extension [Double] {
  /// Nil without elements.
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
