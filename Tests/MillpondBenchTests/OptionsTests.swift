import Testing

@testable import MillpondBench

@Suite struct OptionsTests {
  @Test func `the argument after folder is a folder, not a row`() throws {
    let options = try Options(
      ["pipe", "--folder", "there", "--json"], valued: DiskFamily.valued)

    #expect(options["--folder"] == "there")
    #expect(options.names == ["pipe"])
    #expect(options.isJSON)
  }

  @Test(arguments: [["--folder"], ["--folder", ""], ["--folder", "--json"]])
  func `folder without a folder is an error`(arguments: [String]) {
    #expect(throws: OptionsError.self) { try Options(arguments, valued: DiskFamily.valued) }
  }

  @Test func `an option that a command doesn't have is an error`() {
    #expect(throws: OptionsError.self) { try Options(["--folder", "there"]) }
    #expect(throws: OptionsError.self) { try Options(["--json"], flags: ["--quick"]) }
    #expect(throws: OptionsError.self) { try Options(["--"]) }
  }

  @Test func `the help of every family shows the options that it has, and no others`() {
    func expectHelp<Family: RowFamily>(_ family: Family.Type) {
      for option in ["--folder"] {
        #expect(family.help.contains(option) == (family.valued[option] != nil), "\(family.name)")
      }
    }
    for family in families.dropFirst() {
      expectHelp(family)
      #expect(family.help.contains("Usage: millpond-bench \(family.name) "))
      #expect(SignalFamily.help.contains("millpond-bench \(family.name) "))
    }
  }

  @Test func `the help names the other command too`() {
    #expect(SignalFamily.help.contains("millpond-bench hit-ratio"))
  }
}
