/// An entity tag, strong or weak.
///
/// - Source: RFC 9110 §8.8.3.
struct EntityTag: Sendable {
  /// The tag as it was sent, with its quotes.
  let text: String
  let isWeak: Bool

  /// Parses one tag; nil if the text is none, such as one without quotes.
  init?(_ text: some StringProtocol) {
    let text = String(text)
    let isWeak = text.utf8.starts(with: "W/".utf8)
    let quoted = text.utf8.dropFirst(isWeak ? 2 : 0)
    guard quoted.count >= 2, quoted.first == UInt8(ascii: "\""),
      quoted.last == UInt8(ascii: "\""), quoted.dropFirst().dropLast().allSatisfy(\.isTagByte)
    else { return nil }
    self.text = text
    self.isWeak = isWeak
  }

  /// Returns the only tag of a response; nil without one, with an invalid one, or with several.
  init?(of headers: HeaderFields) {
    let values = headers.values(of: "ETag")
    guard let first = values.first, values.allSatisfy({ $0.utf8.elementsEqual(first.utf8) })
    else { return nil }
    self.init(first)
  }

  /// Whether both are strong and have the same bytes.
  func isStronglyEqual(to other: EntityTag) -> Bool {
    !isWeak && self == other
  }

  /// Whether both name the same version, up to insignificant changes.
  func isWeaklyEqual(to other: EntityTag) -> Bool {
    text.utf8.dropFirst(isWeak ? 2 : 0).elementsEqual(
      other.text.utf8.dropFirst(other.isWeak ? 2 : 0))
  }
}

extension EntityTag: Equatable {
  /// Whether both have the same bytes; texts of other bytes may be equal as strings.
  static func == (left: EntityTag, right: EntityTag) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }
}

extension EntityTag {
  /// Whether the values of the `If-None-Match` fields name this tag, as "*" names every one; nil if
  /// there are none, or one of them can't be read.
  ///
  /// - Parameter tag: The tag; nil if the response has none.
  /// - Source: RFC 9110 §13.1.2.
  static func isNamed(_ tag: EntityTag?, in values: [String]) -> Bool? {
    if values == ["*"] { return true }
    let parts = values.flatMap { $0.listMembers(escapes: false) }
    let named = parts.compactMap { EntityTag($0) }
    guard !named.isEmpty, named.count == parts.count else { return nil }
    guard let tag else { return false }
    return named.contains { $0.isWeaklyEqual(to: tag) }
  }
}

extension UInt8 {
  fileprivate var isTagByte: Bool { self == 0x21 || (0x23...0x7E).contains(self) || self >= 0x80 }
}
