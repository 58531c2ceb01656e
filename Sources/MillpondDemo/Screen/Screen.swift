import Foundation

/// Standard output, with its abilities.
struct Screen: Sendable {
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

  /// Whether lines can be redrawn in place; otherwise each line is written once.
  let isLive: Bool
  let hasColour: Bool

  /// Whether there are characters beyond ASCII.
  let hasUnicode: Bool

  /// - Source: no-color.org: any text in `NO_COLOR` forbids colours. The first locale variable that
  ///   is set decides on the characters.
  static func standardOutput() -> Screen {
    let variables = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
    let isLive = isatty(STDOUT_FILENO) == 1 && variables["TERM"] != "dumb"
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { variables[$0] }.first
    return Screen(
      isLive: isLive, hasColour: isLive && variables["NO_COLOR"] == nil,
      hasUnicode: locale?.lowercased().replacing("-", with: "").contains("utf8") ?? false)
  }

  /// The size in characters, which a user may change; 80 by 24 if the terminal does not state it.
  var size: (columns: Int, lines: Int) {
    var window = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0
    return isKnown ? (Int(window.ws_col), Int(window.ws_row)) : (80, 24)
  }

  var ellipsis: String { hasUnicode ? "…" : "~" }

  func painted(_ text: String, _ ink: Ink?) -> String {
    guard hasColour, let ink, !text.isEmpty else { return text }
    return "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m"
  }

  /// Writes the text as far as possible: a closed pipe accepts no more.
  func write(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }

  /// Writes lines, each with a line end; in a terminal they break between words.
  func write(lines: [String]) {
    write(lines.flatMap(wrapped).map { $0 + "\n" }.joined())
  }

  /// Breaks lines between words where the terminal would break it anywhere.
  ///
  /// The rest of a line is indented by two more columns. A word that is longer than a line stays
  /// whole, so that an address can be followed.
  func wrapped(_ text: String) -> [String] {
    guard isLive else { return [text] }
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { String($0).broken(at: size.columns) }
  }

  /// Writes a title after an empty line.
  func title(_ text: String) { write(lines: ["", painted(text, .title)]) }

  /// Writes an indented line.
  func say(_ text: String) { write(lines: ["  " + text]) }
}

extension String {
  /// The text without characters that move the cursor or change the terminal's state, which errors
  /// from files and servers may have.
  var harmless: String {
    String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.isControl ? " " : $0 }))
  }

  /// Cuts the text to at most that many columns; a cut text ends with the ellipsis.
  func cut(to width: Int, _ ellipsis: String) -> String {
    count <= width ? self : String(prefix(max(0, width - 1))) + (width > 0 ? ellipsis : "")
  }

  /// Pads the text on its right.
  func leading(in width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// Pads the text on its left.
  func trailing(in width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}

extension String {
  /// The columns that a terminal needs for it, which are none for its colours.
  private var columns: Int { replacing(/\u{1B}\[[0-9]*m/, with: "").count }

  fileprivate func broken(at width: Int) -> [String] {
    let margin = String(repeating: " ", count: prefix { $0 == " " }.count + 2)
    var (lines, line) = ([String](), "")
    for (place, word) in split(separator: " ", omittingEmptySubsequences: false).enumerated() {
      let joined = place == 0 ? String(word) : line + " " + word
      if joined.columns > width, line.columns > margin.count {
        lines.append(line)
        line = margin + word
      } else {
        line = joined
      }
    }
    return lines + [line]
  }
}

extension Unicode.Scalar.Properties {
  fileprivate var isControl: Bool {
    [.control, .lineSeparator, .paragraphSeparator, .format].contains(generalCategory)
  }
}
