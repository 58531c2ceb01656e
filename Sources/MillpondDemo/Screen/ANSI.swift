/// The few control sequences that the board needs.
///
/// - Source: ECMA-48 §8.3, and DEC private mode 25 for the cursor.
enum ANSI {
  static let hideCursor = "\u{1B}[?25l"
  static let showCursor = "\u{1B}[?25h"
  /// The end of a line, which clears the rest of an earlier, longer one.
  static let lineEnd = "\u{1B}[K\n"
  static let clearBelow = "\u{1B}[J"

  /// Returns the move to the start of the line that many lines above; zero stays on this line.
  static func up(_ lines: Int) -> String {
    lines > 0 ? "\r\u{1B}[\(lines)A" : "\r"
  }
}
