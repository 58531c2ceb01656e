import Testing

@testable import MillpondBench

@Suite struct OptionsTests {
  @Test func `the argument after svg is a file, not a row`() throws {
    let options = try Options(["pipe", "--svg", "a.svg", "--json"])

    #expect(options.picture == "a.svg")
    #expect(options.names == ["pipe"])
    #expect(options.isJSON)
  }

  @Test(arguments: [["--svg"], ["--svg", ""], ["--svg", "--json"]])
  func `svg without a file is an error`(arguments: [String]) {
    #expect(throws: OptionsError.self) { try Options(arguments) }
  }

  @Test func `the help names the other command too`() {
    #expect(Options.help.contains("millpond-bench hit-ratio"))
  }
}
