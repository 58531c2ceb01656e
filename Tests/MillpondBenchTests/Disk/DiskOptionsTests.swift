import Testing

@testable import MillpondBench

@Suite struct DiskOptionsTests {
  @Test(arguments: [
    ("disk-get-1", ["disk-get-100b", "disk-get-1k", "disk-get-16k"]),
    ("disk-open-hint", ["disk-open-hint-10k", "disk-open-hint-200k"]),
    ("disk-put-4m", ["disk-put-4m"]),
  ])
  func `a name is the beginning of one row's name or of several`(
    name: String, rows: [String]
  ) throws {
    let options = try Options([name])

    #expect(try DiskFamily.allRows.named(options.names).map(\.name) == rows)
  }

  @Test func `without a name, all are chosen, also when it has to be quick`() throws {
    let chosen = try DiskFamily.allRows.named(Options(["--quick"]).names)

    #expect(chosen.count == 5 * 4 + 2 * 3 + 4 + 8)
    #expect(Set(chosen.map(\.name)).count == chosen.count)
  }

  @Test func `a folder comes after its option`() throws {
    let options = try Options(
      ["--folder", "/there", "disk-get", "--json"], valued: DiskFamily.valued)

    #expect(options["--folder"] == "/there")
    #expect(options.names == ["disk-get"])
    #expect(options.isJSON)
  }

  @Test(arguments: [["--folder"], ["--folder", "--quick"], ["--traces", "x"]])
  func `an option without its value, or one that is unknown, is an error`(arguments: [String]) {
    #expect(throws: OptionsError.self) { try Options(arguments, valued: DiskFamily.valued) }
  }

  @Test func `a name of no row is an error`() throws {
    let options = try Options(["disk-get", "disk-got"])

    #expect(throws: OptionsError.self) { try DiskFamily.allRows.named(options.names) }
  }

  @Test func `the general help names this command`() {
    #expect(SignalFamily.help.contains("millpond-bench disk"))
  }
}
