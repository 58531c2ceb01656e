/// The rows about the network as a table for people.
struct NetworkTable: ResultTable {
  let titles = ["row", "unit", "ours", "bare", "ratio", "target", ""]

  /// The explanation of the columns.
  static let legend = """
    ours: HTTPSource. bare: a URLSession with a delegate that only counts or collects bytes. The
    origin is in this process, so both figures contain its processor time; compare the difference.
    """

  let columns: Columns

  init(for rows: [NetworkRow]) {
    var widths = titles.map(\.count)
    widths[0] = rows.map(\.name.count).max() ?? 0
    for column in [2, 3] { widths[column] = 12 }
    widths[4] = 6
    widths[5] = 14
    columns = Columns(widths: widths, leftAligned: [0, 1, 5, 6])
  }

  func cells(_ row: NetworkMeasurement) -> [String] {
    let ratio = row.ours.flatMap { ours in row.bare.map { ours / $0 } }
    return [
      row.name, row.unit, row.ours.map { digits($0, $0 < 100 ? 2 : 0) } ?? "not measured",
      digits(row.bare, (row.bare ?? 0) < 100 ? 2 : 0), digits(ratio, 2), row.target, row.verdict,
    ]
  }
}
