/// The rows about signals and compositions, which need no command.
struct SignalFamily: RowFamily {
  static let name = "rows"
  static let title = "Signals and compositions"

  static let help = """
    Usage: millpond-bench [NAME...] [--quick] [--json] [--list]
           millpond-bench memory [NAME...] [--quick] [--json] [--list]
           millpond-bench disk [NAME...] [--folder DIR] [--quick] [--json] [--list]
           millpond-bench network [NAME...] [--quick] [--json] [--list]
           millpond-bench entities [NAME...] [--quick] [--json] [--list]
           millpond-bench redis [NAME...] [--quick] [--json] [--list]
           millpond-bench worst [NAME...] [--quick] [--json] [--list]
           millpond-bench hit-ratio [--traces DIR] [--quick] [--json]
           millpond-bench report [FAMILY...] --out FILE [--quick]

    memory and disk compare those caches with others, network compares HTTPSource with a bare
    URLSession, redis compares RedisCache with the server's own tool, entities measures EntityStore,
    worst measures how bulk operations grow and how long other threads wait for them, hit-ratio
    counts hits on traces, report makes one page of them all; see the --help of each. The rest of
    this text is about the rows without such a command.

    Measures each row and the physical floor of the same work, in turns in this process, and prints
    nanoseconds per operation: the best of several repetitions, or the median if threads contend. A
    NAME selects the rows whose names begin with it; without one, all rows run.

    Compare the ratios to the floor: nanoseconds differ from machine to machine and from hour to
    hour. Targets were set on the machine on which the floors were measured. A row has "met" its
    target, or only "by ratio" (in more nanoseconds, on a slower machine) or "by ns" (on a faster
    one), or has "missed" it; "mallocs" means more allocations than its target.

      --quick      few repetitions: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       prints the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  /// The groups of rows, of which each has a file.
  static let allRows =
    floorRows() + chainRows() + makingRows() + subjectRows() + replayRows() + combiningRows()
    + threadRows() + cacheRows() + responseRows() + compositionRows() + multiplexerRows()
    + taskRows()

  private let effort: Effort

  init(_ options: Options) {
    effort = options.isQuick ? .quick : .full
  }

  func table(for rows: [Row]) -> Table { Table(for: rows) }

  func measure(_ rows: [Row], _ report: (Measurement) -> Void) {
    for row in rows { report(MillpondBench.measure(row, effort)) }
  }

}

extension Row: NamedRow {}
extension Measurement: RowLine {
  var multiple: Double? { isFloor ? nil : ratio }
}
