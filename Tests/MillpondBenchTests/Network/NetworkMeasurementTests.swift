import Testing

@testable import MillpondBench

@Suite struct NetworkMeasurementTests {
  private func verdict(
    _ target: NetworkRow.Target, _ ours: Double?, _ bare: Double? = nil, isSumRight: Bool = true
  ) -> String {
    let figures = NetworkFigures(ours: ours, bare: bare, isSumRight: isSumRight)
    let row = NetworkRow(
      name: "a", summary: "b", unit: "ms", target: target, measure: { _ in figures })
    return NetworkMeasurement(row, figures).verdict
  }

  @Test func `each kind of target has its edge`() {
    #expect(verdict(.atMost(15), 15) == "met")
    #expect(verdict(.atMost(15), 15.1) == "missed")
    #expect(verdict(.atLeastShare(0.95), 95, 100) == "met")
    #expect(verdict(.atLeastShare(0.95), 94, 100) == "missed")
    #expect(verdict(.atMostOver(15), 115, 100) == "met")
    #expect(verdict(.atMostOver(15), 116, 100) == "missed")
  }

  @Test func `a row that was not measured keeps no promise and breaks none`() {
    #expect(verdict(.atMost(15), nil).isEmpty)
    #expect(verdict(.atLeastShare(0.95), 95).isEmpty)
  }

  @Test func `a wrong sum is said first`() {
    #expect(verdict(.atMost(15), 1, isSumRight: false) == "WRONG")
  }

  @Test func `every row can be measured, and its sum is right`() throws {
    let effort = NetworkEffort(pairs: 1, requests: 2, streamed: 100_000, large: 10 << 20)

    for row in NetworkRow.all { #expect(try row.measure(effort).isSumRight, "\(row.name)") }
  }
}
