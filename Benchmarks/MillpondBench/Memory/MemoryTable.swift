/// The matrix as a table for people.
struct MemoryTable: ResultTable {
  let titles = [
    "row", "unit", "ours", "≤", "dictionary", "ratio", "≤", "NSCache", "ratio", "≤", "",
  ]

  /// The explanation of the columns.
  static let legend = """
    ours: MemoryCache.now and set. dictionary: a dictionary under our own lock, without a policy; for
    inserts, it drops its oldest key. NSCache: Foundation's, with objects made beforehand; on Linux,
    a full one drops the new key. ratio: ours ÷ theirs, in this run. Lookups use the stored key
    instances, in random order.
    """

  let columns: Columns

  init(for rows: [MemoryRow]) {
    var widths = titles.map(\.count)
    widths[0] = rows.map(\.name.count).max() ?? 0
    widths[1] = 5
    for column in [2, 7] { widths[column] = 7 }
    for column in [3, 5, 6, 8, 9] { widths[column] = 5 }
    columns = Columns(widths: widths, leftAligned: [0, 1, 10])
  }

  func cells(_ row: MemoryMeasurement) -> [String] {
    [
      row.name, row.unit, row.ours.map { digits($0, 1) } ?? "not measured",
      digits(row.targets.ours, 0),
      digits(row.dictionary, 1), digits(row.dictionaryRatio, 2), digits(row.targets.dictionary, 2),
      digits(row.nsCache, 1), digits(row.nsCacheRatio, 2), digits(row.targets.nsCache, 2),
      row.verdict,
    ]
  }
}
