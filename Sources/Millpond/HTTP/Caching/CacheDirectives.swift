/// The directives of the `Cache-Control` fields of one message.
///
/// Any text can be parsed. Text that breaks the grammar makes the message less cacheable, never
/// more: an unreadable number is ``StatedSeconds/unclear``, a member that is no token asks for
/// validation, and a quotation without an end also forbids storing, since it may hide a directive.
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
    var value = value
    value.withUTF8 { bytes in
      var members = HeaderListParser(bytes)
      while let member = members.next() { add(member) }
    }
  }

  func has(_ flag: Flags) -> Bool { flags.contains(flag) }

  /// Adds what an old `Pragma` field or the terms of a get ask for.
  mutating func insert(_ flag: Flags) { flags.insert(flag) }

  /// Limits the age further.
  mutating func limitAge(to seconds: Int) {
    if case .exactly(let known) = maxAge, known <= seconds { return }
    if maxAge != .unclear { maxAge = .exactly(seconds) }
  }

  private mutating func add(_ member: HeaderListParser.Member) {
    if !member.isWellFormed {
      flags.insert(.noCache)
      if !member.isTerminated || member.mentions("no-store") { flags.insert(.noStore) }
    }
    switch member.name {
    case "no-store": flags.insert(.noStore)
    case "no-cache": flags.insert(.noCache)
    case "must-revalidate": flags.insert(.mustRevalidate)
    case "public": flags.insert(.isPublic)
    case "private": flags.insert(.isPrivate)
    case "immutable": flags.insert(.immutable)
    case "only-if-cached": flags.insert(.onlyIfCached)
    case "must-understand": flags.insert(.mustUnderstand)
    case "max-age": Self.add(member.seconds, to: &maxAge)
    case "min-fresh": Self.add(member.seconds, to: &minFresh)
    case "stale-while-revalidate": Self.add(member.seconds, to: &staleWhileRevalidate)
    case "stale-if-error": Self.add(member.seconds, to: &staleIfError)
    case "max-stale":
      let any = member.hasArgument ? member.seconds : .exactly(Self.greatestSeconds)
      Self.add(any, to: &maxStale)
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

extension HeaderListParser.Member {
  /// The argument as a number; digits only, bare or in quotes.
  fileprivate var seconds: StatedSeconds {
    guard isWellFormed, let count = Int(saturating: argument) else { return .unclear }
    return .exactly(count)
  }
}

extension Int {
  /// Parses a number of seconds; a great one counts as 2^31, and anything but digits is nil.
  ///
  /// - Source: RFC 9111 §1.2.2.
  init?(saturating digits: UnsafeRawBufferPointer.SubSequence) {
    if digits.isEmpty { return nil }
    var sum = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      sum = Swift.min(sum * 10 + Int(digit - 0x30), CacheDirectives.greatestSeconds)
    }
    self = sum
  }
}
