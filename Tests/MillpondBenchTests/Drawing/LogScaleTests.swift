import Testing

@testable import MillpondBench

@Suite struct LogScaleTests {
  @Test func `each decade takes the same length`() throws {
    let scale = LogScale(for: [2, 900], length: 300)

    let positions = [1, 10, 100, 1_000].compactMap { scale.position(of: $0) }
    #expect(positions == [0, 100, 200, 300])
  }

  @Test func `the marks are the decades`() {
    let marks = LogScale(for: [0.02, 30], length: 400).marks(labelWidth: 10)

    #expect(marks.map(\.label) == ["0.01", "0.1", "1", "10", "100"])
    #expect(marks.map(\.position) == [0, 100, 200, 300, 400])
  }

  @Test func `marks keep so much apart that their labels don't touch`() {
    let marks = LogScale(for: [1e-200, 1e200], length: 500).marks(labelWidth: 60)

    #expect(marks.count > 2)
    #expect(zip(marks, marks.dropFirst()).allSatisfy { $1.position - $0.position >= 60 })
  }

  @Test(arguments: [0, -1, .nan, .infinity])
  func `a value without a logarithm has no position`(value: Double) {
    #expect(LogScale(for: [value], length: 100).position(of: value) == nil)
  }
}
