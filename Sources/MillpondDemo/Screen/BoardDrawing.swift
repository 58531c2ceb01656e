/// Turns a title and rows into lines for a terminal.
struct BoardDrawing {
  let title: String
  let rows: [Row]
  let look: Look
  /// Columns of the terminal; lines are kept one shorter, so that none wraps.
  let columns: Int

  /// All rows, or, where they don't fit, the liveliest ones in their order and a count of the rest.
  ///
  /// - Parameter limit: The most lines there may be; at least three. Nil is no limit.
  func lines(atMost limit: Int? = nil) -> [String] {
    guard let limit, rows.count + 1 > limit else { return [heading] + lines(of: rows) }
    let room = max(1, limit - 2)
    let byRank = rows.indices.sorted { (rows[$0].state.rank, $0) < (rows[$1].state.rank, $1) }
    let shown = byRank.prefix(room).sorted().map { rows[$0] }
    let hidden = "\(look.glyphs.ellipsis) and \(rows.count - shown.count) more"
    return [heading] + lines(of: shown) + [look.painted(hidden.cut(to: width), .quiet)]
  }

  private var width: Int { max(1, columns - 1) }

  private var heading: String {
    let settled = rows.count { $0.state.isSettled }
    let count = "\(settled) of \(rows.count)".cut(to: width)
    let title = title.cut(to: max(0, width - count.columns - 2), ellipsis: look.glyphs.ellipsis)
    let pieces = [look.painted(title, .title), look.painted(count, .quiet)]
    return pieces.filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private func lines(of shown: [Row]) -> [String] {
    // Of all rows, shown or not: columns that jump are hard to watch.
    let longest = rows.reduce(0) { max($0, $1.label.columns) }
    let drawing = RowDrawing(look: look, longestLabel: longest, width: width)
    return shown.map(drawing.line)
  }
}
