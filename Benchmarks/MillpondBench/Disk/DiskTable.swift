/// The rows about the disk as a table for people.
struct DiskTable: ResultTable {
  let titles = [
    "row", "unit", "ours", "≤", "one file", "ratio", "≤", "file each", "ratio", "≤",
    "Foundation", "ratio", "≤", "",
  ]

  /// The explanation of the columns.
  static let legend = """
    ours: DiskCache. one file: pwrite of the same bytes to the end of one file, pread from it. file
    each: open, write, close and rename; open, fstat, read and close; unlink. Foundation: an atomic
    write, Data(contentsOf:), removeItem; those two with 200 values at most. ratio: ours ÷ theirs, in
    this run. All reads are served by the system's cache. The targets against Foundation apply only
    if the files are not in memory alone.
    """

  let columns: Columns

  init(for rows: [DiskRow]) {
    var widths = titles.map(\.count)
    widths[0] = rows.map(\.name.count).max() ?? 0
    widths[1] = 5
    for column in [2, 4] { widths[column] = 8 }
    for column in [3, 5, 6, 8, 9, 11, 12] { widths[column] = 4 }
    columns = Columns(widths: widths, leftAligned: [0, 1, 13])
  }

  func cells(_ row: DiskMeasurement) -> [String] {
    [
      row.name, row.unit, row.ours.map(figure) ?? "not measured", digits(row.targets.ours, 0),
      figure(row.oneFile), ratio(row.oneFileRatio), ratio(row.targets.oneFile),
      figure(row.fileEach), ratio(row.fileEachRatio), ratio(row.targets.fileEach),
      figure(row.foundation), ratio(row.foundationRatio), ratio(row.targets.foundation),
      row.verdict,
    ]
  }

  /// Formats tenths of a microsecond up to seconds with three significant digits.
  private func figure(_ number: Double?) -> String {
    digits(number, (number ?? 0) < 10 ? 2 : (number ?? 0) < 100 ? 1 : 0)
  }

  private func ratio(_ number: Double?) -> String {
    digits(number, (number ?? 0) < 10 ? 2 : 0)
  }
}
