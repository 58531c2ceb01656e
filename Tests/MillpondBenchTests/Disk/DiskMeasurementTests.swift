import Testing

@testable import MillpondBench

@Suite struct DiskMeasurementTests {
  @Test(arguments: [
    ("disk-put-16k", [20.0, 10, 1, 400], "met"), ("disk-put-16k", [20.1, 10, 1, 500], "missed"),
    ("disk-put-16k", [20, 10, 1, 399], "missed"), ("disk-get-100b", [4, 1, 1, 1], "met"),
    ("disk-get-1k", [4.1, 1, 9, 9], "missed"), ("disk-get-16k", [400, 1, 1, 1], ""),
    ("disk-put-256k", [110, 1, 100, 1], "met"), ("disk-put-4m", [111, 100, 100, 100], "missed"),
    ("disk-get-4m", [110, 1, 100, 1], "met"), ("disk-get-256k", [111, 100, 100, 100], "missed"),
    ("disk-remove-1k", [900, 1, 1, 1], ""),
  ])
  func `each row has the targets that were set for it, on a disk`(
    name: String, figures: [Double], verdict: String
  ) {
    #expect(measured(name, figures)?.verdict == verdict)
  }

  @Test(arguments: [
    ("disk-open-hint-200k", 25, "met"), ("disk-open-hint-200k", 25.1, "missed"),
    ("disk-open-scan-200k", 30, "met"), ("disk-open-scan-200k", 30.1, "missed"),
    ("disk-open-scan-10k", 99, ""),
  ])
  func `opening a large folder has a limit in milliseconds`(
    name: String, milliseconds: Double, verdict: String
  ) {
    #expect(measured(name, [milliseconds, nil, nil, nil])?.verdict == verdict)
  }

  @Test func `if files are in memory, Foundation does not wait, and is no measure`() {
    #expect(measured("disk-put-1k", [2, 1, 1, 3])?.verdict == "missed")
    #expect(measured("disk-put-1k", [2, 1, 1, 3], isInMemory: true)?.verdict == "met")
  }

  @Test func `a wrong sum outdoes all else`() {
    #expect(measured("disk-put-1k", [1, 9, 9, 99], isSumRight: false)?.verdict == "WRONG")
  }

  @Test func `a target of a row that was not measured is neither met nor missed`() throws {
    let measurement = try #require(measured("disk-open-hint-200k", [nil, nil, nil, nil]))

    #expect(measurement.verdict == "")
    #expect(DiskTable(for: []).line(measurement).contains("not measured"))
  }

  @Test func `the table has ours beside all others, with the ratios`() throws {
    let measurement = try #require(measured("disk-put-1k", [2.5, 1, 10, 1_000]))

    let line = DiskTable(for: DiskRow.all).line(measurement)

    let cells = line.split(separator: " ").map(String.init)
    #expect(
      cells == [
        "disk-put-1k", "µs", "2.50", "1.00", "2.50", "2.00", "10.0", "0.25", "1000", "0.00", "0.05",
        "missed",
      ])
  }

  private func measured(
    _ name: String, _ figures: [Double?], isInMemory: Bool = false, isSumRight: Bool = true
  ) -> DiskMeasurement? {
    DiskRow.all.first { $0.name == name }.map {
      DiskMeasurement($0, figures, isInMemory: isInMemory, isSumRight: isSumRight)
    }
  }
}
