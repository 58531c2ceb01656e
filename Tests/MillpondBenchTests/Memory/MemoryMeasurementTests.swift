import Testing

@testable import MillpondBench

@Suite struct MemoryMeasurementTests {
  @Test(arguments: [
    ([75.0, 100, 500], "met"), ([76, 100, 600], "missed"), ([75, 100, 499], "missed"),
  ])
  func `a target is kept when it is kept beside both`(figures: [Double], verdict: String) {
    #expect(measured("memory-hit-str-1k", figures)?.verdict == verdict)
  }

  @Test(arguments: [(80.0, "met"), (80.1, "missed")])
  func `bytes have a limit of their own, whatever others need`(bytes: Double, verdict: String) {
    #expect(measured("memory-bytes-str-100k", [bytes, 1, 1])?.verdict == verdict)
  }

  @Test(arguments: [
    ("memory-hit-str-100k", [100, 100, 667], "met"),
    ("memory-hit-str-100k-2", [50, 100, 1], "met"),
    ("memory-hit-str-100k-2", [51, 100, 1_000], "missed"),
    ("memory-insert-str-1k", [60, 1, 1_000], "met"),
    ("memory-insert-str-1k", [61, 1_000, 1_000], "missed"),
    ("memory-hit-int-1k", [1_000, 1, 1], ""),
  ])
  func `each row has the targets that were set for it`(
    name: String, figures: [Double], verdict: String
  ) {
    #expect(measured(name, figures)?.verdict == verdict)
  }

  @Test func `a wrong sum outdoes all else`() {
    #expect(measured("memory-hit-str-1k", [1, 100, 100], isSumRight: false)?.verdict == "WRONG")
  }

  @Test func `a target of a row that was not measured is neither met nor missed`() {
    let measurement = measured("memory-bytes-str-100k", [nil, nil, nil])

    #expect(measurement?.verdict == "")
    #expect(measurement.map { MemoryTable(for: []).line($0).contains("not measured") } == true)
  }

  @Test func `the table has ours beside both, with the ratios`() throws {
    let measurement = try #require(measured("memory-hit-str-1k", [50, 100, 500]))

    let line = MemoryTable(for: MemoryRow.all).line(measurement)

    let cells = line.split(separator: " ").map(String.init)
    #expect(
      cells == [
        "memory-hit-str-1k", "ns", "50.0", "100.0", "0.50", "0.75", "500.0", "0.10", "0.15", "met",
      ])
  }

  private func measured(
    _ name: String, _ figures: [Double?], isSumRight: Bool = true
  ) -> MemoryMeasurement? {
    MemoryRow.all.first { $0.name == name }.map {
      MemoryMeasurement($0, figures, isSumRight: isSumRight)
    }
  }
}
