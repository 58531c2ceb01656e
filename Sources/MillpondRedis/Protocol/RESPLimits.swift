/// The limits of what a server may send, so that a faulty or hostile one can't exhaust memory.
struct RESPLimits: Sendable {
  /// The greatest length of a line: a simple string, an error or a number.
  var lineLength = 64 << 10

  /// The greatest length of a byte string; the server's own limit is 512 MiB.
  var stringLength = 512 << 20

  /// The greatest number of aggregates inside each other.
  var depth = 8

  /// The greatest number of elements of a reply, those of its aggregates included.
  var elements = 1 << 20

  /// The greatest number of bytes of a reply.
  var bytes = 1 << 30
}

/// A violation of the protocol, after which a connection can't be used.
enum RESPError: Error, Equatable {
  case unknownType(UInt8)
  case malformed(String)
  case beyondLimit(String)
}
