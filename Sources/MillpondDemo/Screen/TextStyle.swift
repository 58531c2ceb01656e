/// The colours, if any, and the characters to draw with.
struct TextStyle: Sendable {
  /// The meaning of a piece of text; by number bold, dim, red, green, yellow, blue, magenta and
  /// cyan.
  ///
  /// - Source: ECMA-48 §8.3.117 (SGR) for the numbers.
  enum Ink: Int {
    case title = 1
    case quiet = 2
    case trouble = 31
    case fromMemory = 32
    case givenUp = 33
    case fromDisk = 34
    case fromAfar = 35
    case underWay = 36
  }

  let hasColour: Bool
  let glyphs: Glyphs

  /// No colours, and only ASCII characters.
  static let plain = TextStyle(hasColour: false, glyphs: .ascii)

  func painted(_ text: String, _ ink: Ink?) -> String {
    guard hasColour, let ink, !text.isEmpty else { return text }
    return "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m"
  }
}
