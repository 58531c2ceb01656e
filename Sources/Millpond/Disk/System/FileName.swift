import Synchronization

/// The name of a store's file: a number of 16 hexadecimal digits and a suffix for its content.
///
/// Such names are legal on every volume, also one that ignores case, and no other file is mistaken
/// for one of the store.
enum FileName: Sendable, Hashable {
  /// A segment of records.
  case segment(UInt64)

  /// A large value.
  case value(UInt64)

  /// An incomplete file.
  case unfinished(UInt64)

  /// A further name of a lent file, with the name extension that a player expects.
  case link(UInt64, pathExtension: String)

  /// The checkpoint of the index.
  case index

  /// The position up to which the log is on the device.
  case syncMark

  static let segmentSuffix = ".millpond-log"
  static let valueSuffix = ".millpond-value"
  static let unfinishedSuffix = ".millpond-new"
  static let linkSuffix = ".millpond-held."
  static let indexName = "millpond.index"
  static let syncMarkName = "millpond.synced"

  /// Parses a name; nil for a file that is not of the store.
  @inline(never)
  init?(_ text: String) {
    if text == Self.indexName {
      self = .index
    } else if text == Self.syncMarkName {
      self = .syncMark
    } else if let number = Self.number(text, Self.segmentSuffix) {
      self = .segment(number)
    } else if let number = Self.number(text, Self.valueSuffix) {
      self = .value(number)
    } else if let number = Self.number(text, Self.unfinishedSuffix) {
      self = .unfinished(number)
    } else if let link = Self.link(text) {
      self = link
    } else {
      return nil
    }
  }

  var text: String {
    switch self {
    case .segment(let number): Self.digits(number) + Self.segmentSuffix
    case .value(let number): Self.digits(number) + Self.valueSuffix
    case .unfinished(let number): Self.digits(number) + Self.unfinishedSuffix
    case .link(let number, let pathExtension):
      Self.digits(number) + Self.linkSuffix + pathExtension
    case .index: Self.indexName
    case .syncMark: Self.syncMarkName
    }
  }

  /// Whether a text may be the extension of a link's name: one to eight lowercase letters and
  /// digits.
  static func isExtension(_ text: String) -> Bool {
    (1...8).contains(text.utf8.count)
      && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
  }

  private static func link(_ text: String) -> FileName? {
    let count = 16 + linkSuffix.utf8.count
    let pathExtension = String(decoding: text.utf8.dropFirst(count), as: UTF8.self)
    guard let number = number(String(decoding: text.utf8.prefix(count), as: UTF8.self), linkSuffix),
      isExtension(pathExtension)
    else { return nil }
    return .link(number, pathExtension: pathExtension)
  }

  @inline(never)
  static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Parses the number of a name; lowercase only, since a second spelling would not be found under
  /// its own name.
  @inline(never)
  static func number(_ text: String, _ suffix: String) -> UInt64? {
    guard text.utf8.count == 16 + suffix.utf8.count, text.hasSuffix(suffix) else { return nil }
    let digits = text.utf8.prefix(16)
    guard digits.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
      return nil
    }
    return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}

/// A sequence of numbers for files that starts at random, so that none is used again, in another
/// run of the program either.
final class FileNumbers: Sendable {
  private let last = AtomicValue(UInt64.random(in: 0 ... .max))

  func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
