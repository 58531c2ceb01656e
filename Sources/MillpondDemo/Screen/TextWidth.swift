extension String {
  /// The columns that the text takes on a terminal.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The text without characters that move the cursor or change the terminal's state.
  ///
  /// Labels and reasons come from file names, URLs and servers, and an escape sequence in them must
  /// not reach the terminal.
  var harmless: String {
    let safe = unicodeScalars.map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: " "
      case .format where scalar != "\u{200D}": " "
      default: scalar
      }
    }
    return String(String.UnicodeScalarView(safe))
  }

  /// Cuts or pads the text to exactly that many columns.
  func fitted(to width: Int, ellipsis: String = "") -> String {
    let cut = self.cut(to: width, ellipsis: ellipsis)
    return cut + String(repeating: " ", count: max(0, width - cut.columns))
  }

  /// Cuts the text to at most that many columns; a cut text ends with the ellipsis.
  func cut(to width: Int, ellipsis: String = "") -> String {
    guard columns > width else { return self }
    var room = width - ellipsis.columns
    guard room >= 0 else { return "" }
    let kept = prefix { character in
      room -= character.columns
      return room >= 0
    }
    return kept + ellipsis
  }

  /// Pads the text on its left.
  func trailing(in width: Int) -> String {
    String(repeating: " ", count: max(0, width - columns)) + self
  }
}

extension Character {
  /// The columns of the character: two for most East Asian characters and emoji, otherwise one.
  ///
  /// - Source: Unicode Standard Annex 11, its wide ranges rounded to whole blocks.
  fileprivate var columns: Int {
    guard let scalar = unicodeScalars.first else { return 0 }
    let isWide =
      scalar.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}")
      || Self.wideRanges.contains { $0.contains(scalar.value) }
    return isWide ? 2 : 1
  }

  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
  ]
}
