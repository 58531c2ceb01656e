extension String {
  /// Returns the members of a field that is a list: the parts between commas that are not in quotes,
  /// without spaces around them; empty ones are left out.
  ///
  /// - Parameter escapes: Whether a backslash in quotes makes the next byte part of the text, as it
  ///   does everywhere but in an entity tag.
  /// - Source: RFC 9110 §5.6.1, §5.6.4, §8.8.3.
  func listMembers(escapes: Bool = true) -> [Substring] {
    var members: [Substring] = []
    var start = utf8.startIndex
    var (isQuoted, isEscaped) = (false, false)
    for index in utf8.indices {
      let byte = utf8[index]
      if isEscaped {
        isEscaped = false
      } else if byte == .quote {
        isQuoted.toggle()
      } else if isQuoted {
        isEscaped = escapes && byte == .backslash
      } else if byte == UInt8(ascii: ",") {
        members.append(self[start..<index])
        start = utf8.index(after: index)
      }
    }
    members.append(self[start...])
    return members.map(\.withoutSpaces).filter { !$0.isEmpty }
  }
}

extension Substring {
  /// The text of a quoted string that is all of this, without its quotes and with its escapes; nil
  /// if this is anything else.
  ///
  /// - Source: RFC 9110 §5.6.4.
  var quotedText: Substring? {
    guard utf8.first == .quote else { return nil }
    var rest = utf8.dropFirst()
    while let byte = rest.popFirst() {
      if byte == .quote { return rest.isEmpty ? Substring(utf8.dropFirst().dropLast()) : nil }
      if byte == .backslash { rest = rest.dropFirst() }
    }
    return nil
  }
}

extension StringProtocol where SubSequence == Substring {
  /// The text without spaces and tabs around it.
  var withoutSpaces: Substring {
    var rest = self[...].utf8
    while let first = rest.first, first == 0x20 || first == 0x09 { rest = rest.dropFirst() }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest = rest.dropLast() }
    return Substring(rest)
  }
}

extension UInt8 {
  fileprivate static let quote = UInt8(ascii: "\"")
  fileprivate static let backslash = UInt8(ascii: "\\")
}
