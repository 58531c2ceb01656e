import Testing

@testable import MillpondBench

@Suite struct NetworkOptionsTests {
  @Test func `names choose the rows that begin with them, in the order of the table`() throws {
    let options = try Options(["network-growth", "network-request"])

    #expect(
      try NetworkFamily.allRows.named(options.names).map(\.name) == [
        "network-request-cpu", "network-growth-1g", "network-growth-1g-disk",
      ])
  }

  @Test func `without names all rows are chosen`() throws {
    #expect(
      try NetworkFamily.allRows.named(Options([]).names).count == NetworkRow.all.count)
  }

  @Test func `a name of no row, or of no option, is an error`() throws {
    #expect(throws: OptionsError.self) {
      try NetworkFamily.allRows.named(Options(["network-nothing"]).names)
    }
    #expect(throws: OptionsError.self) { try Options(["--fast"]) }
  }

  @Test func `the general help names this command`() {
    #expect(SignalFamily.help.contains("millpond-bench network"))
  }
}
