/// The rows about worst cases.
struct WorstFamily: RowFamily {
  static let name = "worst"
  static let title = "Worst cases"

  static let help = """
    Usage: millpond-bench worst [NAME...] [--quick] [--json] [--list]

    Measures worst cases: the processor time of an operation with 1,000, 10,000, 100,000 and, if that
    is affordable, 1,000,000 things; its growth; and the longest time that a second thread, which
    repeats a cheap operation, waits meanwhile. A NAME such as worst-memory selects the rows whose
    names begin with it; without one, all rows run, which takes some minutes.

      --quick      only 100 and 1,000 things: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       prints the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  static var allRows: [WorstRow] { WorstRow.all }

  private let effort: WorstEffort

  init(_ options: Options) {
    effort = options.isQuick ? .quick : .full
  }

  func table(for rows: [WorstRow]) -> WorstTable { WorstTable(for: rows, effort) }

  func measure(_ rows: [WorstRow], _ report: (WorstMeasurement) -> Void) throws {
    for row in rows { report(try row.measure(effort)) }
  }

}

extension WorstMeasurement: RowLine {
  var multiple: Double? { nil }
}

/// The sizes at which worst cases are measured.
struct WorstEffort {
  let sizes: [Int]
  let repetitions: Int

  /// The greatest time that a size may be expected to take; a larger one is left out.
  let limit: Duration

  static let full = WorstEffort(
    sizes: [1_000, 10_000, 100_000, 1_000_000], repetitions: 2, limit: .seconds(3))

  static let quick = WorstEffort(sizes: [100, 1_000], repetitions: 1, limit: .seconds(10))
}
