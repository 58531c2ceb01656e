/// The lines for a title and rows on a terminal.
struct BoardDrawing {
  let title: String
  let rows: [Row]
  let style: TextStyle
  /// The columns of the terminal; lines are one shorter, so that none wraps.
  let columns: Int

  /// Returns lines for all rows or, if they do not fit, for the most active ones and a count of the
  /// rest.
  ///
  /// - Parameter limit: The greatest number of lines, at least three; nil for no limit.
  func lines(atMost limit: Int? = nil) -> [String] {
    guard let limit, rows.count + 1 > limit else { return [heading] + lines(of: rows) }
    let room = max(1, limit - 2)
    let byRank = rows.indices.sorted { (rows[$0].state.rank, $0) < (rows[$1].state.rank, $1) }
    let shown = byRank.prefix(room).sorted().map { rows[$0] }
    let hidden = "\(style.glyphs.ellipsis) and \(rows.count - shown.count) more"
    return [heading] + lines(of: shown) + [style.painted(hidden.cut(to: width), .quiet)]
  }

  private var width: Int { max(1, columns - 1) }

  private var heading: String {
    let settled = rows.count { $0.state.isSettled }
    let count = "\(settled) of \(rows.count)".cut(to: width)
    let title = title.cut(to: max(0, width - count.columns - 2), ellipsis: style.glyphs.ellipsis)
    let pieces = [style.painted(title, .title), style.painted(count, .quiet)]
    return pieces.filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private func lines(of shown: [Row]) -> [String] {
    // The longest of all rows, shown or hidden: columns that jump are hard to read.
    let longest = rows.reduce(0) { max($0, $1.label.columns) }
    let drawing = RowDrawing(style: style, longestLabel: longest, width: width)
    return shown.map(drawing.line)
  }
}
