import Foundation

/// A value of the protocol between clients and servers.
///
/// Attributes are dropped, sets are arrays, verbatim text is what it contains, and numbers that are
/// not integers, and booleans, are their text.
///
/// - Source: RESP3, https://github.com/redis/redis-specifications/blob/master/protocol/RESP3.md
enum RESPValue: Sendable, Equatable {
  case null
  case simple(String)
  case error(String)
  case integer(Int64)
  case bytes(Data)
  case array([RESPValue])

  /// Keys and values in turn.
  case map([RESPValue])

  /// A message that answers no command.
  case push([RESPValue])

  /// The text of a simple or a byte string; nil for others, and for bytes that are not UTF-8.
  var text: String? {
    switch self {
    case .simple(let text): text
    case .bytes(let data): String(validating: data, as: UTF8.self)
    default: nil
    }
  }
}
