import Testing

@testable import MillpondBench

@Suite struct MemoryOptionsTests {
  @Test(arguments: [
    ("memory-hit-str-100k", ["memory-hit-str-100k", "memory-hit-str-100k-2"]),
    ("memory-mixed-int-1m-2", ["memory-mixed-int-1m-2"]),
    ("memory-bytes", ["memory-bytes-str-100k"]),
  ])
  func `a name is the beginning of one row's name or of several`(
    name: String, rows: [String]
  ) throws {
    let options = try Options([name])

    #expect(try MemoryFamily.allRows.named(options.names).map(\.name) == rows)
  }

  @Test func `without a name, all are chosen`() throws {
    let chosen = try MemoryFamily(Options([])).feasible(MemoryFamily.allRows)

    #expect(chosen.count == 3 * 3 * 4 * 2 + 1)
    #expect(Set(chosen.map(\.name)).count == chosen.count)
  }

  @Test func `quick leaves out the rows of a million`() throws {
    let chosen = try MemoryFamily(Options(["--quick"])).feasible(MemoryFamily.allRows)

    #expect(chosen.count == 3 * 2 * 4 * 2 + 1)
    #expect(chosen.allSatisfy { $0.size <= 100_000 })
  }

  @Test func `a name of no row, or of no option, is an error`() throws {
    let options = try Options(["memory-hit", "memory-hot"])

    #expect(throws: OptionsError.self) { try MemoryFamily.allRows.named(options.names) }
  }
}
