import TestTraits
import Testing

@testable import MillpondBench

@Suite(.heavy) struct EntityRowTests {
  @Test(arguments: EntityRow.all.map(\.name))
  func `a quick run has the right sums`(name: String) throws {
    for row in try EntityRow.all.named([name]) where row.name == name {
      #expect(row.measure(.quick).isSumRight)
    }
  }

  @Test func `a row is met if all that was promised is kept`() {
    let row = EntityRow(
      name: "row", summary: "", target: 10, ratioTarget: 2, measure: { _ in EntityFigures() })

    #expect(EntityMeasurement(row, EntityFigures(ours: 8, other: 5)).verdict == "met")
    #expect(EntityMeasurement(row, EntityFigures(ours: 8, other: 3)).verdict == "missed")
    #expect(EntityMeasurement(row, EntityFigures(ours: 12, other: 9)).verdict == "missed")
    #expect(EntityMeasurement(row, EntityFigures()).verdict == "")
    #expect(
      EntityMeasurement(row, EntityFigures(ours: 8, isSumRight: false)).verdict == "WRONG")
  }

  @Test func `options are read, and unknown ones are refused`() throws {
    let options = try Options(["entities-touch", "--json", "--quick"])

    #expect(options.names == ["entities-touch"])
    #expect(options.isJSON)
    #expect(options.isQuick)
    #expect(throws: OptionsError.self) { try Options(["--nonsense"]) }
    #expect(SignalFamily.help.contains("millpond-bench entities"))
  }
}
