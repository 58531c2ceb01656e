/// The few control sequences the board needs.
///
/// - Source: ECMA-48 §8.3, and DEC private mode 25 for the cursor.
enum ANSI {
  static let hideCursor = "\u{1B}[?25l"
  static let showCursor = "\u{1B}[?25h"
  /// Ends a line and clears what an earlier, longer one left behind it.
  static let lineEnd = "\u{1B}[K\n"
  static let clearBelow = "\u{1B}[J"

  /// To the start of the line that many lines above; zero would count as one.
  static func up(_ lines: Int) -> String {
    lines > 0 ? "\r\u{1B}[\(lines)A" : "\r"
  }
}
