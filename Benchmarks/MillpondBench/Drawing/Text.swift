/// Text in a picture: escaped, and measured without a font at hand.
struct Text {
  /// The width of a character in the widest of ``fonts``, so that no text overlaps its neighbour,
  /// whichever font is installed.
  private static let widthOfCharacter = 0.64
  private static let widthOfUncommonCharacter = 1.4

  /// Fonts of a fixed width, so that the width of a text is known.
  static let fonts = "Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"

  let content: String
  var size = 12.0

  /// The greatest width of the text, in the picture's units.
  var width: Double {
    content.reduce(0) { width, character in
      let isCommon = character.unicodeScalars.allSatisfy { $0.value < 0x2000 }
      return width + size * (isCommon ? Self.widthOfCharacter : Self.widthOfUncommonCharacter)
    }
  }

  /// The text with escapes, valid in an element and in an attribute.
  var escaped: String {
    var result = ""
    for scalar in content.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&apos;"
      case "\t", "\n", "\r": result += " "
      case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"  // not allowed, even escaped
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
