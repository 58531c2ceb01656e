import Dispatch

/// A display of the progress of many fetches: bars drawn in place, or plain lines.
///
/// Any thread may report. Reporting never waits for the terminal: a queue of the board writes, at
/// most thirty times a second. ``finish()`` ends the display and restores the cursor.
final class Board: Sendable {
  private struct State {
    var text: BoardText
    var isDrawingDue = false
    var isFinished = false
    var drawn: ContinuousClock.Instant?
  }

  private static let pause = Duration.milliseconds(33)

  private let screen: Screen
  private let state: LockedState<State>
  private let queue = DispatchQueue(label: "board")

  init(title: String, on screen: Screen) {
    self.screen = screen
    let text = BoardText(title: title, isLive: screen.isLive, style: screen.style)
    state = LockedState(State(text: text))
  }

  /// Adds a waiting row below the others.
  ///
  /// - Returns: The number of the row, for reports.
  func addRow(_ label: String) -> Int {
    change { $0.add(label) }
  }

  /// Reports the state of a row; after ``finish()`` it is not shown any more.
  func report(_ state: RowState, row: Int) {
    change { $0.report(state, row: row) }
  }

  /// Writes a permanent line above the rows.
  func note(_ line: String) {
    change { $0.note(line) }
  }

  /// Draws all rows in their present state, shows the cursor, and returns when that is written.
  ///
  /// Idempotent, and safe in the handler of an interrupt.
  func finish() {
    queue.sync {
      let size = screen.size()
      let frame = state.withLock { state -> String in
        guard !state.isFinished else { return "" }
        state.isFinished = true
        return state.text.finalFrame(columns: size.columns)
      }
      screen.write(frame)
    }
  }

  /// Changes the text under the lock, and schedules its drawing.
  private func change<Result>(_ body: (inout BoardText) -> Result) -> Result {
    let (result, delay) = state.withLock { state -> (Result, Duration?) in
      let result = body(&state.text)
      guard !state.isDrawingDue, !state.isFinished else { return (result, nil) }
      state.isDrawingDue = true
      let rested = state.drawn.map { .now - $0 } ?? Self.pause
      return (result, max(.zero, Self.pause - rested))
    }
    if let delay {
      let nanoseconds = Int(delay / .nanoseconds(1))
      queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { self.draw() }
    }
    return result
  }

  /// Draws a frame, on the queue only, so that frames are written in order outside of the lock.
  private func draw() {
    let size = screen.size()
    let frame = state.withLock { state -> String in
      guard !state.isFinished else { return "" }
      state.isDrawingDue = false
      state.drawn = .now
      return state.text.frame(columns: size.columns, lines: size.lines)
    }
    screen.write(frame)
  }
}
