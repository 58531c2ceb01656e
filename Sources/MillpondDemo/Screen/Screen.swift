/// Where lines go, and what they may look like there.
struct Screen: Sendable {
  /// Whether lines can be drawn again in place; else each line is written once.
  let isLive: Bool
  let look: Look
  /// The size now, in characters: a user may pull at the window.
  let size: @Sendable () -> (columns: Int, lines: Int)
  let write: @Sendable (String) -> Void

  /// Standard output, live when it is a terminal.
  static func standardOutput() -> Screen {
    let isLive = Terminal.isInteractive
    return Screen(
      isLive: isLive,
      look: Look(
        hasColour: isLive && Terminal.wantsColour,
        glyphs: Terminal.showsUnicode ? .unicode : .ascii),
      size: { Terminal.size },
      write: { Terminal.write($0) })
  }

  /// Writes lines, each with its end.
  func write(lines: [String]) {
    write(lines.map { $0 + "\n" }.joined())
  }
}
