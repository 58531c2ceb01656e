import Testing

@testable import MillpondBench

@Suite struct HitRatioPictureTests {
  @Test func `each trace has a panel, with the mean gain and a line for each cache`() throws {
    let chart = LineChart(of: [
      cell("a", .count, 1, ours: 50), cell("a", .count, 10, ours: 53),
      cell("b", .count, 1, ours: 40),
    ])

    #expect(chart.panels.map(\.title) == ["a", "b"])
    #expect(chart.panels.map(\.note) == ["+11.5", "+0.0"])
    #expect(chart.panels[0].lines.map { $0.points.map(\.y) } == [[60, 60], [40, 40], [50, 53]])
    #expect(chart.panels[0].lines.map { $0.points.map(\.x) } == [[1, 10], [1, 10], [1, 10]])
  }

  @Test func `traces counted in bytes have panels of their own, without an optimum`() {
    let chart = LineChart(of: [
      cell("a", .count, 1, ours: 50), cell("a", .bytes, 1, ours: 50),
      cell("a", .bytesHit, 1, ours: 50),
    ])

    #expect(chart.panels.map(\.title) == ["a", "a, bytes", "a, bytes hit"])
    #expect(chart.panels.map { $0.lines[0].points.count } == [1, 0, 0])
  }

  private func cell(
    _ trace: String, _ kind: HitRatioCell.Kind, _ percent: Double, ours: Double
  ) -> HitRatioCell {
    HitRatioCell(
      trace: trace, kind: kind, percent: percent, capacity: 1, leastRecentlyUsed: 40, ours: ours,
      optimum: kind == .count ? 60 : nil, isCounted: true)
  }
}
