/// An iterator over the members of a comma-separated field, whose arguments may be quoted.
///
/// It ends for any bytes, and allocates nothing but names of at most 32 bytes.
///
/// - Source: RFC 9110 §5.6.1, §5.6.4, §5.6.6.
struct HeaderListParser {
  /// One member: a name, and perhaps an argument.
  struct Member {
    /// The name in lower case; empty if it is longer than any that is known.
    let name: String

    /// The argument, without its quotes.
    let argument: UnsafeRawBufferPointer.SubSequence
    let hasArgument: Bool

    /// Whether the member keeps to the grammar.
    let isWellFormed: Bool

    /// Whether its quotation ends.
    let isTerminated: Bool

    fileprivate let text: UnsafeRawBufferPointer.SubSequence

    /// Whether the text of the member contains this word, in any case.
    func mentions(_ word: String) -> Bool {
      String(decoding: text.prefix(1 << 16), as: UTF8.self).lowercased().contains(word)
    }
  }

  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  /// Creates an iterator over bytes that stay valid while it is used.
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = UnsafeRawBufferPointer(bytes)
  }

  /// Returns the next member that is not empty.
  mutating func next() -> Member? {
    while position < bytes.count, bytes[position].isSpace || bytes[position] == .comma {
      position += 1
    }
    return position < bytes.count ? member() : nil
  }

  private mutating func member() -> Member {
    let start = position
    let name = bytes[start..<find { $0 == .comma || $0 == .equals }]
    guard position < bytes.count, bytes[position] == .equals else {
      let name = name.trimmed
      return Member(name, bytes[start..<position])
    }
    position += 1
    if position < bytes.count, bytes[position] == .quote { return quoted(name, from: start) }
    let from = position
    let argument = bytes[from..<find { $0 == .comma }].trimmedRight
    return Member(name, argument, bytes[start..<position], argument.allSatisfy(\.isTokenByte))
  }

  private mutating func quoted(
    _ name: UnsafeRawBufferPointer.SubSequence, from start: Int
  ) -> Member {
    position += 1
    let from = position
    var end: Int?
    while position < bytes.count, end == nil {
      if bytes[position] == .quote {
        end = position
      } else if bytes[position] == .backslash {
        position += 1
      }
      position += 1
    }
    position = min(position, bytes.count)
    guard let end else {
      return Member(name, bytes[from..<position], bytes[start..<position], false, false)
    }
    let rest = bytes[position..<find { $0 == .comma }]
    return Member(
      name, bytes[from..<end], bytes[start..<position], rest.allSatisfy(\.isSpace))
  }

  /// Advances to the next byte that is so, or to the end.
  private mutating func find(_ isFound: (UInt8) -> Bool) -> Int {
    while position < bytes.count, !isFound(bytes[position]) { position += 1 }
    return position
  }
}

extension HeaderListParser.Member {
  fileprivate typealias Bytes = UnsafeRawBufferPointer.SubSequence

  fileprivate init(_ name: Bytes, _ text: Bytes) {
    self.init(
      name: name.lowercasedName, argument: name.dropFirst(name.count), hasArgument: false,
      isWellFormed: name.allSatisfy(\.isTokenByte), isTerminated: true, text: text)
  }

  fileprivate init(
    _ name: Bytes, _ argument: Bytes, _ text: Bytes, _ isProper: Bool, _ isTerminated: Bool = true
  ) {
    self.init(
      name: name.trimmed.lowercasedName, argument: argument, hasArgument: true,
      isWellFormed: isProper && name.allSatisfy(\.isTokenByte) && !name.isEmpty,
      isTerminated: isTerminated, text: text)
  }
}

extension UnsafeRawBufferPointer.SubSequence {
  fileprivate var trimmedRight: Self {
    var rest = self
    while let last = rest.last, last.isSpace { rest.removeLast() }
    return rest
  }

  fileprivate var trimmed: Self { trimmedRight.drop(while: \.isSpace) }

  fileprivate var lowercasedName: String {
    if count > 32 { return "" }
    return String(decoding: map(\.inLowerCase), as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate static let comma = UInt8(ascii: ",")
  fileprivate static let equals = UInt8(ascii: "=")
  fileprivate static let quote = UInt8(ascii: "\"")
  fileprivate static let backslash = UInt8(ascii: "\\")

  fileprivate var isSpace: Bool { self == 0x20 || self == 0x09 }
}
