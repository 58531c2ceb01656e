/// An output for lines, with its abilities.
struct Screen: Sendable {
  /// Whether lines can be redrawn in place; otherwise each line is written once.
  let isLive: Bool
  let style: TextStyle
  /// Returns the current size in characters; a user may resize the window.
  let size: @Sendable () -> (columns: Int, lines: Int)
  let write: @Sendable (String) -> Void

  /// Returns standard output, which is live if it is a terminal.
  static func standardOutput() -> Screen {
    let isLive = Terminal.isInteractive
    return Screen(
      isLive: isLive,
      style: TextStyle(
        hasColour: isLive && Terminal.wantsColour,
        glyphs: Terminal.showsUnicode ? .unicode : .ascii),
      size: { Terminal.size },
      write: { Terminal.write($0) })
  }

  /// Returns an invisible terminal of 90 columns, which passes its output on.
  static func drawn(_ write: @escaping @Sendable (String) -> Void) -> Screen {
    Screen(
      isLive: true, style: TextStyle(hasColour: true, glyphs: .unicode),
      size: { (columns: 90, lines: 60) }, write: write)
  }

  /// Writes lines, each with a line end.
  func write(lines: [String]) {
    write(lines.map { $0 + "\n" }.joined())
  }
}
