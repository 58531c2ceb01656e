/// The directives of the `Cache-Control` fields of one message.
///
/// Any text can be parsed. Text that breaks the grammar makes the message less cacheable, never
/// more: an unreadable number is ``StatedSeconds/unclear``, a member that is no directive asks for
/// validation, and one with a quotation also forbids storing, since that may hide a directive.
///
/// - Source: RFC 9111 §5.2, RFC 5861, RFC 8246.
struct CacheDirectives: Sendable, Equatable {
  /// The directives without a number.
  struct Flags: OptionSet, Sendable {
    let rawValue: UInt16

    static let noStore = Flags(rawValue: 1)
    static let noCache = Flags(rawValue: 2)
    static let mustRevalidate = Flags(rawValue: 4)
    static let isPublic = Flags(rawValue: 8)
    static let isPrivate = Flags(rawValue: 16)
    static let immutable = Flags(rawValue: 32)
    static let onlyIfCached = Flags(rawValue: 64)
    static let mustUnderstand = Flags(rawValue: 128)
  }

  /// The number that stands for all greater ones.
  ///
  /// - Source: RFC 9111 §1.2.2.
  static let greatestSeconds = 1 << 31

  private(set) var flags: Flags = []
  private(set) var maxAge = StatedSeconds.absent
  private(set) var minFresh = StatedSeconds.absent
  private(set) var staleWhileRevalidate = StatedSeconds.absent
  private(set) var staleIfError = StatedSeconds.absent

  /// The greatest accepted staleness; ``greatestSeconds`` without a number.
  private(set) var maxStale = StatedSeconds.absent

  init() {}

  /// Parses the values of all `Cache-Control` fields of a message.
  init(_ values: [String]) {
    for value in values { add(value) }
  }

  /// Adds the directives of one more field.
  mutating func add(_ value: String) {
    for member in value.listMembers() { add(CacheDirective(member)) }
  }

  func has(_ flag: Flags) -> Bool { flags.contains(flag) }

  /// Adds what an old `Pragma` field or the terms of a get ask for.
  mutating func insert(_ flag: Flags) { flags.insert(flag) }

  private mutating func add(_ directive: CacheDirective) {
    if !directive.isWellFormed {
      flags.insert(.noCache)
      if directive.mayHide("no-store") { flags.insert(.noStore) }
    }
    switch directive.name {
    case "no-store": flags.insert(.noStore)
    case "no-cache": flags.insert(.noCache)
    case "must-revalidate": flags.insert(.mustRevalidate)
    case "public": flags.insert(.isPublic)
    case "private": flags.insert(.isPrivate)
    case "immutable": flags.insert(.immutable)
    case "only-if-cached": flags.insert(.onlyIfCached)
    case "must-understand": flags.insert(.mustUnderstand)
    case "max-age": Self.add(directive.seconds, to: &maxAge)
    case "min-fresh": Self.add(directive.seconds, to: &minFresh)
    case "stale-while-revalidate": Self.add(directive.seconds, to: &staleWhileRevalidate)
    case "stale-if-error": Self.add(directive.seconds, to: &staleIfError)
    case "max-stale":
      let isAny = directive.argument == nil
      Self.add(isAny ? .exactly(Self.greatestSeconds) : directive.seconds, to: &maxStale)
    default: break  // RFC 9111 §5.2.3: an unknown directive is ignored.
    }
  }

  private static func add(_ new: StatedSeconds, to known: inout StatedSeconds) {
    known = known == .absent || known == new ? new : .unclear
  }
}

/// A number of seconds in the fields of a message: a time span, or a time after the beginning of
/// 1970.
enum StatedSeconds: Sendable, Equatable {
  case absent
  case exactly(Int)

  /// Neither a number nor a date, or several that differ.
  case unclear
}

/// A member of a `Cache-Control` field: a name, and perhaps an argument.
private struct CacheDirective {
  /// The name in lower case.
  let name: String

  /// The argument, without its quotes.
  let argument: Substring?

  /// Whether the member keeps to the grammar.
  let isWellFormed: Bool
  private let text: Substring

  init(_ text: Substring) {
    self.text = text
    let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
    let name = text[..<(equals ?? text.endIndex)]
    self.name = name.withoutSpaces.lowercased()
    let bare = equals.map { text[text.utf8.index(after: $0)...] }
    argument = bare.map { $0.quotedText ?? $0 }
    let isArgument = bare.map { $0.quotedText != nil || $0.utf8.allSatisfy(\.isTokenByte) }
    isWellFormed =
      isArgument != false && !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte)
  }

  /// Whether a member that does not keep to the grammar may contain another, with this name.
  func mayHide(_ name: String) -> Bool {
    text.utf8.contains(UInt8(ascii: "\"")) || text.lowercased().contains(name)
  }

  /// The argument as a number; digits only, bare or in quotes.
  var seconds: StatedSeconds {
    guard isWellFormed, let argument, let count = Int(saturating: argument) else {
      return .unclear
    }
    return .exactly(count)
  }
}

extension Int {
  /// Parses a number of seconds; a great one counts as 2^31, and anything but digits is nil.
  ///
  /// - Source: RFC 9111 §1.2.2.
  init?(saturating digits: Substring) {
    if digits.isEmpty { return nil }
    var sum = 0
    for digit in digits.utf8 {
      guard (0x30...0x39).contains(digit) else { return nil }
      sum = Swift.min(sum * 10 + Int(digit - 0x30), CacheDirectives.greatestSeconds)
    }
    self = sum
  }
}
