import Testing

@testable import MillpondBench

@Suite struct NetworkOptionsTests {
  @Test func `names choose the rows that begin with them, in the order of the table`() throws {
    let options = try NetworkOptions(["network-growth", "network-request"])

    #expect(
      try options.choose(from: NetworkRow.all).map(\.name) == [
        "network-request-cpu", "network-growth-1g", "network-growth-1g-disk",
      ])
  }

  @Test func `without names all rows are chosen`() throws {
    #expect(
      try NetworkOptions([]).choose(from: NetworkRow.all).count == NetworkRow.all.count)
  }

  @Test func `what no row is called, or no option, is an error`() throws {
    #expect(throws: OptionsError.self) {
      try NetworkOptions(["network-nothing"]).choose(from: NetworkRow.all)
    }
    #expect(throws: OptionsError.self) { try NetworkOptions(["--fast"]) }
  }

  @Test func `the general help names this command`() {
    #expect(Options.help.contains("millpond-bench network"))
  }
}
