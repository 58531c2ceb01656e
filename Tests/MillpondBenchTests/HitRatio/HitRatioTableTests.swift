import Testing

@testable import MillpondBench

@Suite struct HitRatioTableTests {
  private let table = HitRatioTable(for: Workload.all(length: 1_000).map(TraceSource.init))

  @Test func `lines are aligned, with the difference in points`() {
    let line = table.line(cell(ours: 42.25, optimum: 60))

    #expect(line.count == table.header.count)
    #expect(
      line.split(separator: " ") == ["loop", "0.1", "1234", "40.00", "42.25", "60.00", "+2.2"])
  }

  @Test func `an optimum that isn't known is left out`() {
    #expect(table.line(cell(ours: 39, optimum: nil)).hasSuffix("-1.0"))
    #expect(table.line(cell(ours: 39, optimum: nil)).count == table.header.count)
  }

  @Test func `a contender that surpasses the optimum is reported`() {
    #expect(table.line(cell(ours: 42, optimum: 41)).hasSuffix("IMPOSSIBLE"))
  }

  private func cell(ours: Double, optimum: Double?) -> HitRatioCell {
    HitRatioCell(
      trace: "loop", kind: .count, percent: 0.1, capacity: 1_234, leastRecentlyUsed: 40, ours: ours,
      optimum: optimum, isCounted: true)
  }
}
