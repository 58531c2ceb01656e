import Foundation

/// A command for the server.
enum RedisRequest: Sendable {
  /// A read of one key, which is encoded straight into the output.
  case get(RedisKey)

  /// A command in its encoded form.
  ///
  /// It is repeatable if carrying it out twice, at different times, does no harm: if it only reads.
  case encoded([UInt8], isRepeatable: Bool)

  /// Encodes a command of arguments.
  static func command(_ arguments: RedisArgument..., isRepeatable: Bool = false) -> RedisRequest {
    command(arguments, isRepeatable: isRepeatable)
  }

  /// Encodes a command of arguments.
  static func command(_ arguments: [RedisArgument], isRepeatable: Bool = false) -> RedisRequest {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(arguments.reduce(16) { $0 + $1.count + 24 })
    bytes.appendHead(UInt8(ascii: "*"), arguments.count)
    for argument in arguments { argument.append(to: &bytes) }
    return .encoded(bytes, isRepeatable: isRepeatable)
  }

  /// Encodes the command that runs a script with one key.
  static func script(
    _ text: String, _ key: RedisKey, _ arguments: [RedisArgument] = [], isRepeatable: Bool = false
  ) -> RedisRequest {
    command(["EVAL", .text(text), "1", .key(key)] + arguments, isRepeatable: isRepeatable)
  }

  var isRepeatable: Bool {
    switch self {
    case .get: true
    case .encoded(_, let isRepeatable): isRepeatable
    }
  }

  /// The bytes of the encoded command, or a few more.
  var count: Int {
    switch self {
    case .get(let key): Self.get.count + RedisArgument.key(key).count + 24
    case .encoded(let bytes, _): bytes.count
    }
  }

  /// Appends the encoded command.
  func append(to output: inout [UInt8]) {
    switch self {
    case .get(let key):
      output.append(contentsOf: Self.get)
      RedisArgument.key(key).append(to: &output)
    case .encoded(let bytes, _): output.append(contentsOf: bytes)
    }
  }

  private static let get = Array("*2\r\n$3\r\nGET\r\n".utf8)
}

/// An argument of a command.
enum RedisArgument: Sendable, ExpressibleByStringLiteral {
  case text(String)
  case key(RedisKey)
  case number(Int64)

  /// A value and what is stored behind it.
  case value(Data, [UInt8])

  init(stringLiteral text: String) {
    self = .text(text)
  }

  var count: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .key(let key): key.prefix.utf8.count + key.key.utf8.count
    case .number(let number): String(number).utf8.count
    case .value(let data, let rest): data.count + rest.count
    }
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendHead(UInt8(ascii: "$"), count)
    switch self {
    case .text(let text): bytes.append(contentsOf: text.utf8)
    case .key(let key):
      bytes.append(contentsOf: key.prefix.utf8)
      bytes.append(contentsOf: key.key.utf8)
    case .number(let number): bytes.append(contentsOf: String(number).utf8)
    case .value(let data, let rest):
      data.withUnsafeBytes { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: rest)
    }
    bytes.appendLineEnd()
  }
}

extension [UInt8] {
  /// Appends the type of a value, its length and the end of the line.
  fileprivate mutating func appendHead(_ type: UInt8, _ length: Int) {
    append(type)
    if length < 10 {
      append(UInt8(ascii: "0") + UInt8(length))
    } else {
      append(contentsOf: String(length).utf8)
    }
    appendLineEnd()
  }

  fileprivate mutating func appendLineEnd() {
    append(UInt8(ascii: "\r"))
    append(UInt8(ascii: "\n"))
  }
}
