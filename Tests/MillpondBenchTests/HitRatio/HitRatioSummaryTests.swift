import Testing

@testable import MillpondBench

@Suite struct HitRatioSummaryTests {
  @Test func `a trace with many cells weighs no more than one with few`() {
    let summary = HitRatioSummary(of: [
      cell("a", gain: 1, greatest: 10), cell("a", gain: 2, greatest: 20),
      cell("a", gain: 3, greatest: 30), cell("b", gain: 12, greatest: 40),
    ])

    #expect(summary.gain == 7)
    #expect(summary.greatestGain == 30)
    #expect(summary.traceCount == 2)
    #expect(summary.cellCount == 4)
  }

  @Test func `cells that don't count change nothing`() {
    let summary = HitRatioSummary(of: [
      cell("a", gain: 6), cell("a", gain: -50, isCounted: false),
      cell("b", gain: 0, isCounted: false),
    ])

    #expect(summary.gain == 6)
    #expect(summary.worst?.gain == 6)
    #expect(summary.traceCount == 1)
  }

  @Test(arguments: [(5.5, true), (5.4, false)])
  func `a target is met by what reaches it`(gain: Double, isMet: Bool) {
    let summary = HitRatioSummary(of: [cell("a", gain: gain)])

    #expect(summary.isGainMet == isMet)
    #expect(summary.description.contains(isMet ? "+5.5: met" : "+5.5: missed"))
  }

  @Test(arguments: [(-6.0, true), (-6.5, false)])
  func `one cell is enough to lose more than was promised`(gain: Double, isMet: Bool) {
    let summary = HitRatioSummary(of: [cell("a", gain: 40), cell("corda", gain: gain)])

    #expect(summary.isLossMet == isMet)
    #expect(summary.description.contains(isMet ? "-6.0: met" : "-6.0: missed"))
    #expect(summary.description.contains("corda"))
  }

  @Test func `without cells that count there is no verdict`() {
    let summary = HitRatioSummary(of: [cell("a", gain: 9, isCounted: false)])

    #expect(summary.isGainMet == nil)
    #expect(summary.isLossMet == nil)
    #expect(!summary.description.contains("met"))
  }

  private func cell(
    _ trace: String, gain: Double, greatest: Double = 50, isCounted: Bool = true
  ) -> HitRatioCell {
    HitRatioCell(
      trace: trace, kind: .count, percent: 1, capacity: 100, leastRecentlyUsed: 50,
      ours: 50 + gain, optimum: 50 + greatest, isCounted: isCounted)
  }
}
