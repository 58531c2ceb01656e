import Testing

@testable import MillpondBench

@Suite struct PercentScaleTests {
  @Test(arguments: [
    ([0, 100], ["0", "20", "40", "60", "80", "100"]), ([33.3], ["30", "35"]),
    ([75.2, 93.2], ["75", "80", "85", "90", "95"]), ([12, 40], ["10", "20", "30", "40"]),
  ])
  func `it begins and ends with a round number, as close as can be`(
    values: [Double], labels: [String]
  ) {
    let marks = PercentScale(for: values, length: 100).marks

    #expect(marks.map(\.label) == labels)
    #expect(marks.first?.position == 0)
    #expect(marks.last?.position == 100)
  }

  @Test(arguments: [[], [0], [100], [99.9, 100], [0, 0.1], [50], [.nan, 3], [-20, 300]])
  func `each value to show has a position on the scale`(values: [Double]) {
    let scale = PercentScale(for: values, length: 100)

    #expect(scale.marks.count >= 2)
    for value in values where (0...100).contains(value) {
      #expect((0...100).contains(scale.position(of: value)))
    }
  }
}
