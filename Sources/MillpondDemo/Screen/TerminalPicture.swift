import Foundation

/// A drawing of a terminal after the output of the demo.
///
/// It understands the sequences of ``ANSI`` and ``TextStyle``, and no others.
struct TerminalPicture {
  /// A run of characters in one ink.
  private struct Piece {
    var text: String
    let ink: TextStyle.Ink?
  }

  private var lines: [[Piece]] = [[]]
  private var row = 0
  private var ink: TextStyle.Ink?

  /// Adds output, as a terminal would receive it.
  mutating func write(_ output: String) {
    var rest = Substring(output)
    while let character = rest.popFirst() {
      switch character {
      case "\u{1B}": control(&rest)
      case "\n", "\r\n": moveDown()
      case "\r": break  // Always the start of a move up, after which lines are written anew.
      default: append(character)
      }
    }
  }

  /// Performs a sequence, whose escape has been read: "[", parameters, and a letter.
  private mutating func control(_ rest: inout Substring) {
    let parameters = rest.prefix { !$0.isLetter }
    rest = rest.dropFirst(parameters.count)
    let number = Int(parameters.filter(\.isNumber)) ?? 0
    switch rest.popFirst() {
    case "A":
      row = max(0, row - number)
      lines[row] = []
    case "J": lines.removeSubrange((row + (lines[row].isEmpty ? 0 : 1))...)
    case "m": ink = TextStyle.Ink(rawValue: number)
    default: break
    }
    if row >= lines.count { lines.append([]) }
  }

  private mutating func moveDown() {
    row += 1
    if row == lines.count { lines.append([]) } else { lines[row] = [] }
  }

  private mutating func append(_ character: Character) {
    if let last = lines[row].indices.last, lines[row][last].ink == ink {
      lines[row][last].text.append(character)
    } else {
      lines[row].append(Piece(text: String(character), ink: ink))
    }
  }
}

// MARK: - The drawing

extension TerminalPicture {
  private static let cell = (width: 8.4, height: 18.0)
  private static let margin = 16.0

  /// Returns the lines as an SVG document with a ground of its own, for light and dark viewers.
  ///
  /// - Parameters:
  ///   - title: A text in place of the drawing, for screen readers.
  ///   - columns: The width of the terminal.
  func svg(title: String, columns: Int) -> String {
    let shown = lines.reversed().drop { $0.isEmpty }.reversed()
    let size = (
      width: Int(Double(columns) * Self.cell.width + 2 * Self.margin),
      height: Int(Double(shown.count) * Self.cell.height + 2 * Self.margin)
    )
    let texts = shown.enumerated().map { number, line in
      let baseline = Int(Self.margin + Double(number + 1) * Self.cell.height - 5)
      return "<text x=\"\(Int(Self.margin))\" y=\"\(baseline)\">"
        + line.map { Self.span($0) }.joined() + "</text>"
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(size.width)" height="\(size.height)" \
      viewBox="0 0 \(size.width) \(size.height)" role="img" font-size="14" fill="#d6deeb" \
      font-family="Menlo, Consolas, 'DejaVu Sans Mono', monospace">
      <title>\(Self.escaped(title))</title>
      <rect width="100%" height="100%" rx="8" fill="#10151f"/>
      \(texts.joined(separator: "\n"))
      </svg>

      """
  }

  private static func span(_ piece: Piece) -> String {
    let text = escaped(piece.text)
    return piece.ink.map { "<tspan \($0.attributes)>\(text)</tspan>" } ?? text
  }

  /// Spaces become such that no viewer joins them.
  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: " ", with: "\u{A0}")
  }
}

extension TextStyle.Ink {
  /// The look of this ink in a drawing.
  fileprivate var attributes: String {
    switch self {
    case .title: "font-weight=\"bold\" fill=\"#ffffff\""
    case .quiet: "fill=\"#7f8ea3\""
    case .trouble: "fill=\"#ff7a85\""
    case .fromMemory: "fill=\"#8bd98b\""
    case .givenUp: "fill=\"#e5c07b\""
    case .fromDisk: "fill=\"#7cb7ff\""
    case .fromAfar: "fill=\"#d79bff\""
    case .underWay: "fill=\"#6fd6d6\""
    }
  }
}
