import Testing

@testable import MillpondBench

@Suite struct OptionsTests {
  @Test func `the argument after folder is a folder, not a row`() throws {
    let options = try Options(["pipe", "--folder", "there", "--json"])

    #expect(options["--folder"] == "there")
    #expect(options.names == ["pipe"])
    #expect(options.has("--json") && !options.has("--quick"))
  }

  @Test(arguments: [
    ["--folder"], ["--folder", ""], ["--folder", "--json"], ["--"], ["--fast"],
    ["--out", "page"], ["report"], ["report", "--out"],
  ])
  func `arguments without a meaning, or with half of one, are an error`(arguments: [String]) {
    #expect(throws: Trouble.self) { try Options(arguments) }
  }

  @Test func `a report has a file and may have names`() throws {
    let options = try Options(["report", "disk", "--out", "page"])

    #expect(options.names == ["disk"] && options["--out"] == "page")
  }

  @Test func `a name is a group, or the beginning of the names of rows`() throws {
    #expect(try Group.named(["memory"]).map(\.name) == ["caches", "memory"])
    #expect(try Group.named(["entities"]).map(\.name) == ["entities"])
    #expect(
      try Group.named(["disk-get-1", "chain"]).map { $0.rows.map(\.name) } == [
        ["chain-live", "chain-cold"], ["disk-get-100b", "disk-get-1k", "disk-get-16k"],
      ])
    #expect(throws: Trouble.self) { try Group.named(["disk-get", "disk-got"]) }
  }

  @Test func `every row and every group has a name of its own`() {
    let groups = Group.all
    let rows = groups.flatMap(\.rows).map(\.name)

    #expect(Set(groups.map(\.name)).count == groups.count)
    #expect(Set(rows).count == rows.count)
  }

  @Test func `the help names all groups`() {
    for group in Group.all { #expect(Options.help.contains("  " + group.name)) }
  }

  @Test(arguments: [["none"], ["--fast"], ["chain", "--folder", "/dev/null/none"]])
  func `an impossible request ends with 2`(arguments: [String]) {
    #expect(bench(arguments) == 2)
  }
}
