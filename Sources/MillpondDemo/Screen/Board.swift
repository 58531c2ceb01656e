import Dispatch
import Millpond

/// A display of the progress of many fetches: bars drawn in place, or plain lines.
///
/// Any thread may report. Reporting never waits for the terminal: a queue of the board writes, at
/// most thirty times a second. ``finish()`` ends the display and restores the cursor.
final class Board: Sendable {
  private struct State {
    var text: BoardText
    var isDrawingDue = false
    var isFinished = false
  }

  private let screen: Screen
  private let state: Locked<State>
  private let queue = DispatchQueue(label: "board")

  init(title: String, on screen: Screen) {
    self.screen = screen
    state = Locked(State(text: BoardText(title: title, screen: screen)))
  }

  /// Adds a waiting row below the others.
  ///
  /// - Returns: The number of the row, for reports.
  func addRow(_ label: String) -> Int {
    change {
      $0.rows.append(Row(label: label))
      return $0.rows.count - 1
    }
  }

  /// Reports the state of a row; after ``finish()`` it is not shown any more.
  func report(_ state: Row.State, row: Int) {
    change { $0.report(state, row: row) }
  }

  /// Writes a permanent line above the rows.
  func note(_ line: String) {
    change { $0.lasting.append(line) }
  }

  /// Draws all rows in their present state, shows the cursor, and returns when that is written.
  func finish() {
    queue.sync { draw(isLast: true) }
  }

  /// Changes the text under the lock, and schedules its drawing.
  private func change<Result: Sendable>(_ body: (inout BoardText) -> Result) -> Result {
    let (result, isDue) = state.withLock { state -> (Result, Bool) in
      let result = body(&state.text)
      let isDue = !state.isDrawingDue && !state.isFinished
      if isDue { state.isDrawingDue = true }
      return (result, isDue)
    }
    if isDue {
      queue.asyncAfter(deadline: .now() + .milliseconds(33)) { self.draw(isLast: false) }
    }
    return result
  }

  /// Draws a frame, on the queue only, so that frames are written in order outside of the lock.
  private func draw(isLast: Bool) {
    let size = screen.size
    let frame = state.withLock { state -> String in
      guard !state.isFinished else { return "" }
      state.isDrawingDue = false
      state.isFinished = isLast
      return state.text.frame(size, isLast: isLast)
    }
    screen.write(frame)
  }
}

/// The next text of a board: the part of ``Board`` that decides.
///
/// On a live screen a frame replaces the one before; notes stay above it. Otherwise every change of
/// a row's state is a line, except steps of progress.
struct BoardText: Sendable {
  private let title: String
  private let screen: Screen
  var rows: [Row] = []

  /// Lines that are written once and not redrawn.
  var lasting: [String] = []
  private var drawnLines = 0

  init(title: String, screen: Screen) {
    self.title = title
    self.screen = screen
    if !screen.isLive { lasting.append(title) }
  }

  /// Changes the state of a row.
  mutating func report(_ state: Row.State, row: Int) {
    let earlier = rows[row].state
    rows[row].state = state
    if screen.isLive || state == earlier { return }
    if case (.loading, .loading) = (earlier, state) { return }
    lasting.append("\(rows[row].label): \(state.sentence(screen))")
  }

  /// Returns the text that updates the screen; the last one has all rows, and the cursor.
  ///
  /// - Source: ECMA-48 §8.3, and DEC private mode 25 for the cursor.
  mutating func frame(_ size: (columns: Int, lines: Int), isLast: Bool) -> String {
    defer { lasting = [] }
    guard screen.isLive else { return lasting.map { $0 + "\n" }.joined() }
    // A line is left for the cursor: a frame that scrolls cannot be redrawn in place.
    let drawing = BoardDrawing(title, rows, screen, width: max(1, size.columns - 1))
    let lines = drawing.lines(atMost: isLast ? .max : max(3, size.lines - 1))
    let start = drawnLines > 0 ? "\r\u{1B}[\(drawnLines)A" : "\u{1B}[?25l\r"
    drawnLines = lines.count
    return start + (lasting.flatMap(screen.wrapped) + lines).map { $0 + "\u{1B}[K\n" }.joined()
      + "\u{1B}[J"
      + (isLast ? Screen.cursor : "")
  }
}

extension Screen {
  /// The sequence that shows the cursor again.
  static let cursor = "\u{1B}[?25h"
}

/// The lines for a title and rows on a terminal, none of which wraps.
private struct BoardDrawing {
  /// The columns for the longest text after the bar: `100 %  123.4 kB of 123.4 kB`.
  private static let detailWidth = 29

  private let title: String
  private let rows: [Row]
  private let screen: Screen
  private let width: Int
  private let labelWidth: Int

  /// The columns for the bar; zero for no bar.
  private let barWidth: Int

  /// Divides the columns of a line among label, bar and detail.
  init(_ title: String, _ rows: [Row], _ screen: Screen, width: Int) {
    (self.title, self.rows, self.screen, self.width) = (title, rows, screen, width)
    // The longest of all rows, shown or hidden: columns that jump are hard to read. On a narrow
    // screen, the detail with its units is worth more than the end of a label.
    let longest = rows.map(\.label.count).max() ?? 0
    labelWidth = min(longest, max(8, min(width / 3, width - Self.detailWidth - 2)))
    let rest = width - labelWidth - Self.detailWidth - 4
    barWidth = rest < 8 ? 0 : min(rest, 40)
  }

  /// Returns lines for all rows or, if they do not fit, for the first ones that are not settled, and
  /// a count of the rest.
  func lines(atMost limit: Int) -> [String] {
    if rows.count < limit { return [heading] + rows.map(line) }
    let open = rows.filter { !$0.state.isSettled } + rows.filter(\.state.isSettled)
    let shown = open.prefix(limit - 2)
    let hidden = "\(screen.ellipsis) and \(rows.count - shown.count) more"
    return [heading] + shown.map(line) + [screen.painted(hidden, .quiet)]
  }

  private var heading: String {
    let count = "\(rows.count { $0.state.isSettled }) of \(rows.count)"
    let title = title.cut(to: max(0, width - count.count - 2), screen.ellipsis)
    return screen.painted(title, .title) + "  " + screen.painted(count, .quiet)
  }

  private func line(_ row: Row) -> String {
    let label = row.label.cut(to: labelWidth, screen.ellipsis).leading(in: labelWidth)
    let bar = row.state.fraction.map(bar) ?? ""
    let used = labelWidth + 2 + (bar.isEmpty ? 0 : bar.count + 2)
    let detail = row.state.aligned(screen).cut(to: max(0, width - used), screen.ellipsis)
    return [label, screen.painted(bar, row.state.ink), screen.painted(detail, row.state.ink)]
      .filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private func bar(_ fraction: Double) -> String {
    let filled = Int(min(max(fraction, 0), 1) * Double(barWidth))
    let (solid, hollow) = screen.hasUnicode ? ("█", "░") : ("#", "-")
    return String(repeating: solid, count: filled)
      + String(repeating: hollow, count: barWidth - filled)
  }
}
