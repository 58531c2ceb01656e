/// The text of a row in one line.
struct RowDrawing {
  let style: TextStyle
  /// The columns for the label.
  let labelWidth: Int
  /// The columns for the bar; zero for no bar.
  let barWidth: Int
  /// The columns of the whole line.
  let width: Int

  /// The columns for the longest text after the bar: `100 %  123.4 kB of 123.4 kB`.
  private static let detailWidth = 29

  /// Divides the columns of a line among label, bar and detail.
  init(style: TextStyle, longestLabel: Int, width: Int) {
    self.style = style
    self.width = width
    // On a narrow screen, the detail with its units is worth more than the end of a label.
    labelWidth = min(longestLabel, max(8, min(width / 3, width - Self.detailWidth - 2)), width)
    let rest = width - labelWidth - Self.detailWidth - 4
    barWidth = rest < 8 ? 0 : min(rest, 40)
  }

  /// Returns the line of a row, never wider than `width`.
  func line(_ row: Row) -> String {
    let label = row.label.fitted(to: labelWidth, ellipsis: style.glyphs.ellipsis)
    let bar = bar(row.state)
    let used = labelWidth + 2 + (bar.isEmpty ? 0 : bar.columns + 2)
    let detail = RowText(glyphs: style.glyphs).aligned(row.state)
      .cut(to: max(0, width - used), ellipsis: style.glyphs.ellipsis)
    let pieces = [label, style.painted(bar, row.state.ink), style.painted(detail, row.state.ink)]
    return pieces.filter { !$0.isEmpty }.joined(separator: "  ")
  }

  /// Returns the bar of a state; a reason takes its place.
  private func bar(_ state: RowState) -> String {
    guard barWidth > 0 else { return "" }
    let bar = ProgressBar(width: barWidth, glyphs: style.glyphs)
    switch state {
    case .waiting: return bar.drawn(fraction: 0)
    case .loading(let completed, let total?) where total > 0:
      return bar.drawn(fraction: Double(completed) / Double(total))
    case .loading(let completed, _): return bar.drawn(completed: completed)
    case .done: return bar.drawn(fraction: 1)
    case .cancelled, .failed: return ""
    }
  }
}
