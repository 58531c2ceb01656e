import TestTraits
import Testing

@testable import MillpondBench

@Suite(.heavy) struct WorstRowTests {
  @Test(arguments: WorstRow.all.map(\.name))
  func `a quick run has the right sums`(name: String) throws {
    for row in WorstRow.all where row.name == name {
      let measurement = try row.measure(.quick)

      #expect(measurement.isSumRight)
      #expect(measurement.sizes == [100, 1_000])
    }
  }

  @Test func `growth is an exponent`() {
    let linear = [WorstFigures(size: 10, cost: 2), WorstFigures(size: 1_000, cost: 200)]
    let square = [WorstFigures(size: 10, cost: 2), WorstFigures(size: 100, cost: 200)]

    #expect(linear.growth.map { abs($0 - 1) < 0.001 } == true)
    #expect(square.growth.map { abs($0 - 2) < 0.001 } == true)
    #expect([WorstFigures(size: 10, cost: 2)].growth == nil)
  }

  @Test func `a row is met if it grows and lets wait as was promised`() throws {
    let row = WorstRow(name: "row", summary: "") { _ in
      WorstCase(body: {}, neighbour: {}, check: { true })
    }
    func verdict(_ seconds: Double, wait: Double, isSumRight: Bool = true) -> String {
      WorstMeasurement(
        row,
        [
          WorstFigures(size: 10, cost: 1),
          WorstFigures(
            size: 1_000, cost: seconds, longestWait: 1, busiestWait: wait,
            isSumRight: isSumRight),
        ]
      ).verdict
    }

    #expect(verdict(100, wait: 0.000_5) == "met")
    #expect(verdict(10_000, wait: 0.000_5) == "grows")
    #expect(verdict(100, wait: 0.5) == "waits")
    #expect(verdict(10_000, wait: 0.5) == "grows, waits")
    #expect(verdict(100, wait: 0, isSumRight: false) == "WRONG")
  }

  @Test func `options are read, and unknown ones are refused`() throws {
    let options = try Options(["worst-memory", "--json", "--quick"])

    #expect(options.names == ["worst-memory"])
    #expect(options.isJSON)
    #expect(options.isQuick)
    #expect(throws: OptionsError.self) { try Options(["--nonsense"]) }
    #expect(WorstFamily.help.contains("millpond-bench worst"))
  }
}
