/// The next text of a board: the part of ``Board`` that decides.
///
/// On a live screen a frame replaces the one before; notes stay above it. Otherwise every change of
/// a row's state is a line, except steps of progress.
struct BoardText: Sendable {
  private let title: String
  private let isLive: Bool
  private let style: TextStyle
  private var rows: [Row] = []
  /// Lines that are written once and not redrawn.
  private var lasting: [String] = []
  private var drawnLines = 0
  private var hidesCursor = false

  init(title: String, isLive: Bool, style: TextStyle) {
    self.title = title.harmless
    self.isLive = isLive
    self.style = style
    if !isLive { lasting.append(self.title) }
  }

  /// Adds a waiting row, and returns its number, from 0.
  mutating func add(_ label: String) -> Int {
    rows.append(Row(label: label.harmless))
    return rows.count - 1
  }

  /// Changes a row; ignores an unknown number.
  mutating func report(_ state: RowState, row: Int) {
    guard rows.indices.contains(row), rows[row].state != state else { return }
    let earlier = rows[row].state
    rows[row].state = state
    guard !isLive, state.isWorthShowing(after: earlier) else { return }
    lasting.append("\(rows[row].label): \(RowText(glyphs: style.glyphs).sentence(state))")
  }

  mutating func note(_ line: String) { lasting.append(line.harmless) }

  /// Returns the text that updates the screen.
  mutating func frame(columns: Int, lines: Int) -> String {
    guard isLive else { return takeLasting(lineEnd: "\n") }
    let drawing = BoardDrawing(title: title, rows: rows, style: style, columns: columns)
    // One line is left for the cursor: a frame that scrolls cannot be redrawn in place.
    return replaced(by: drawing.lines(atMost: max(3, lines - 1)))
  }

  /// Returns the last text: all rows, and the cursor.
  mutating func finalFrame(columns: Int) -> String {
    guard isLive else { return takeLasting(lineEnd: "\n") }
    let drawing = BoardDrawing(title: title, rows: rows, style: style, columns: columns)
    defer { hidesCursor = false }
    return replaced(by: drawing.lines()) + ANSI.showCursor
  }

  private mutating func replaced(by lines: [String]) -> String {
    defer {
      drawnLines = lines.count
      hidesCursor = true
    }
    return (hidesCursor ? "" : ANSI.hideCursor) + ANSI.up(drawnLines)
      + takeLasting(lineEnd: ANSI.lineEnd)
      + lines.map { $0 + ANSI.lineEnd }.joined() + ANSI.clearBelow
  }

  private mutating func takeLasting(lineEnd: String) -> String {
    defer { lasting = [] }
    return lasting.map { $0 + lineEnd }.joined()
  }
}
