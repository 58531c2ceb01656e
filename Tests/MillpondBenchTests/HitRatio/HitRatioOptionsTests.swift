import Testing

@testable import MillpondBench

@Suite struct HitRatioOptionsTests {
  @Test func `everything can be asked for at once`() throws {
    let options = try HitRatioOptions([
      "--traces", "there", "--json", "--quick", "-h",
    ])

    #expect(options.traces == "there")
    #expect(options.isJSON && options.isQuick && options.wantsHelp)
  }

  @Test(arguments: [
    ["--traces"], ["--traces", "--json"], ["--traces", ""], ["--list"], ["memory-hit"],
  ])
  func `an option without a meaning is an error`(arguments: [String]) {
    #expect(throws: OptionsError.self) { try HitRatioOptions(arguments) }
  }

  @Test func `without a folder the traces are made up, shorter ones if it has to be quick`() throws
  {
    let (full, quick) = (try HitRatioOptions([]), try HitRatioOptions(["--quick"]))

    #expect(try full.sources().map(\.name) == quick.sources().map(\.name))
    #expect(try quick.sources()[0].trace().keys.count == 20_000)
    #expect(full.percents == [0.1, 1, 5, 10, 25])
    #expect(quick.percents.count < full.percents.count)
  }
}
