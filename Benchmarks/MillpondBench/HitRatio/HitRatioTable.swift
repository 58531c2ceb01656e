import Foundation

/// The cells as a table for people.
struct HitRatioTable: ResultTable {
  let titles = ["", "%", "capacity", "LRU", "ours", "optimum", "ours − LRU"]

  /// The explanation of the columns.
  static let legend = """
    %: the capacity, as a share of the trace's footprint. LRU, ours, optimum: hits in percent of the
    accesses. ours − LRU: in points.
    """

  let columns: Columns

  init(for sources: [TraceSource]) {
    let labels = sources.flatMap { source in
      HitRatioCell.Kind.allCases.filter { $0 == .count || source.isSized }
        .map { source.name + $0.suffix }
    }
    var widths = titles.map(\.count)
    widths[0] = labels.map(\.count).max() ?? 0
    widths[1] = 4
    widths[2] = 10
    for column in [3, 4] { widths[column] = 5 }
    columns = Columns(widths: widths, leftAligned: [0])
  }

  func cells(_ cell: HitRatioCell) -> [String] {
    [
      cell.label, percents(cell.percent), "\(cell.capacity)", digits(cell.leastRecentlyUsed),
      digits(cell.ours), cell.optimum.map(digits) ?? "",
      points(cell.gain) + (cell.isPossible ? "" : "  IMPOSSIBLE"),
    ]
  }

  private func digits(_ ratio: Double) -> String {
    String(format: "%.2f", ratio)
  }
}
