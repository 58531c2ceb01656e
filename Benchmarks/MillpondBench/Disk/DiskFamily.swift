import Foundation

/// The rows about caches on disk.
struct DiskFamily: RowFamily {
  static let name = "disk"
  static let title = "Disk"
  static let valued = ["--folder": "a folder"]

  static let help = """
    Usage: millpond-bench disk [NAME...] [--folder DIR] [--quick] [--json] [--list]

    Compares DiskCache with the least possible work, in turns in this process, and prints
    microseconds per operation, the best of several repetitions: puts, gets, tests and removals of
    values from 100 bytes on, and the opening of a folder. Then it prints the bytes per entry on
    disk and in memory; and, while every key is set ten times in random order, the bytes written
    for each byte set, and the durations of a set and of its outcome. A NAME such as disk-get-16k
    selects the rows whose names begin with it; without one, all rows run, which takes some
    minutes and up to 300 MB of disk space.

      --folder DIR  makes the working folder in DIR, and removes it afterwards; by default in the
                    system's temporary directory
      --quick       few values and repetitions: checks the sums, the figures mean little
      --json        one JSON document instead of the table
      --list        prints the names of the rows, and what they measure
      --help, -h    this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments, or a DIR
    that can't be written, which is checked before anything is measured.
    """

  static var allRows: [DiskRow] { DiskRow.all }

  private let effort: DiskEffort
  private let folder: String

  init(_ options: Options) {
    effort = options.isQuick ? .quick : .full
    folder = options["--folder"] ?? FileManager.default.temporaryDirectory.path
  }

  func table(for rows: [DiskRow]) -> DiskTable { DiskTable(for: rows) }

  func measure(_ rows: [DiskRow], _ report: (DiskMeasurement) -> Void) throws {
    let workFolder = try WorkFolder(in: folder)
    defer { workFolder.clear() }
    try MillpondBench.measure(rows, effort, at: workFolder, report)
  }

}

extension DiskRow: NamedRow {}
extension DiskMeasurement: RowLine {
  var multiple: Double? { oneFileRatio ?? fileEachRatio ?? foundationRatio }
}

/// Measures the rows, and reports each as soon as it is known.
///
/// Values are made once for the rows of their size, and given up before the next are made.
func measure(
  _ rows: [DiskRow], _ effort: DiskEffort, at workFolder: WorkFolder,
  _ report: (DiskMeasurement) -> Void
) throws {
  for size in ValueSize.allCases {
    let ofSize = rows.filter { $0.subject.size == size }
    if ofSize.isEmpty { continue }
    try measure(
      ofSize, DiskDataset(size: size.rawValue, count: effort.count(size.count)), effort,
      at: workFolder, report)
  }
  for row in rows {
    if case .opening(let opening) = row.subject {
      report(try measure(row, opening, effort, at: workFolder))
    }
  }
  try measureOverwriting(rows, effort, at: workFolder, report)
}
