// What is secret in the text of a key, a URL or a line of a log: the one rule of all errors,
// events, descriptions and pages.

extension String {
  /// The greatest number of characters of a key in an error.
  private static var keyLimit: Int { 500 }

  /// Creates the text of a key for errors, descriptions and logs: without the secrets of the URLs in
  /// it, and at most 500 characters.
  @usableFromInline
  package init(withoutSecrets key: some Any) {
    self = String("\(key)".withoutSecrets.prefix(Self.keyLimit))
  }

  /// The text without the user, the password, the fragment and the values of the query of each URL
  /// in it.
  ///
  /// A part of a query without a name is left out, since it may be a secret as a whole. Of a path
  /// without a host, only a query with names counts as one.
  package var withoutSecrets: String {
    guard utf8.contains(where: { $0 == .questionMark || $0 == .hash || $0 == .at }) else {
      return self
    }
    var text = ""
    var rest = self[...]
    while !rest.isEmpty {
      let word = rest.prefix { !$0.endsURL }
      text += word.urlWithoutSecrets
      rest = rest[word.endIndex...]
      let gap = rest.prefix { $0.endsURL }
      text += gap
      rest = rest[gap.endIndex...]
    }
    return text
  }
}

extension Substring {
  /// The text of a URL without its secrets; of anything else, the text as it is.
  ///
  /// - Source: RFC 3986 §3 for the parts of a URL.
  fileprivate var urlWithoutSecrets: String {
    let hasHost = contains("//")
    let address = prefix { $0 != "?" && $0 != "#" }
    let query = self[address.endIndex...].prefix { $0 != "#" }.dropFirst()
    let fragment = self[address.endIndex...].drop { $0 != "#" }
    let isQuery = hasHost || query.contains("=")
    guard isQuery || fragment.contains("=") else { return String(self) }
    let names = query.split { $0 == "&" || $0 == ";" }
      .compactMap { item in item.contains("=") ? item.prefix { $0 != "=" } + "=" : nil }
    // What closes a bracket or a sentence around the URL stays.
    let closing =
      address.endIndex == endIndex ? "" : String(reversed().prefix(while: \.isClosing).reversed())
    return address.withoutUsers + (names.isEmpty ? "" : "?" + names.joined(separator: "&"))
      + closing
  }

  /// The address without a user and password before a host.
  private var withoutUsers: String {
    var text = ""
    var rest = self
    while let slashes = rest.firstRange(of: "//") {
      text += rest[..<slashes.upperBound]
      rest = rest[slashes.upperBound...]
      let authority = rest.prefix { $0 != "/" }
      if let at = authority.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    }
    return text + rest
  }
}

extension Character {
  /// Whether this can't be part of a URL, and so stands after its end.
  fileprivate var endsURL: Bool { isWhitespace || self == "\"" || self == "<" || self == ">" }

  fileprivate var isClosing: Bool { ")]},.;:".contains(self) }
}

extension UInt8 {
  fileprivate static var hash: UInt8 { 0x23 }
  fileprivate static var questionMark: UInt8 { 0x3f }
  fileprivate static var at: UInt8 { 0x40 }
}
