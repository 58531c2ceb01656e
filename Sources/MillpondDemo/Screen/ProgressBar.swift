/// A bar of characters, filled in proportion to the work done.
struct ProgressBar {
  let width: Int
  let glyphs: Glyphs

  /// Returns a bar that is filled to a fraction, from 0 to 1.
  func drawn(fraction: Double) -> String {
    let filled = Int(min(max(fraction, 0), 1) * Double(inner))
    return framed(0..<filled)
  }

  /// Returns a bar for work of unknown length: a piece that moves back and forth as bytes arrive.
  func drawn(completed: Int) -> String {
    let piece = max(1, inner / 4)
    let way = max(1, inner - piece)
    let place = max(0, completed) / Self.bytesPerStep % (2 * way)
    let start = place < way ? place : 2 * way - place
    return framed(start..<(start + piece))
  }

  /// The bytes for which the piece moves by one character.
  private static let bytesPerStep = 2_048

  private var inner: Int { max(1, width - glyphs.opening.count - glyphs.closing.count) }

  private func framed(_ filled: Range<Int>) -> String {
    let cells = (0..<inner).map { filled.contains($0) ? glyphs.solid : glyphs.hollow }
    return glyphs.opening + cells.joined() + glyphs.closing
  }
}
