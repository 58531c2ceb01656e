/// The head of a request, and the length of its body.
///
/// - Source: RFC 9112 §2–§6.
package struct RequestHead: Sendable {
  /// The longest accepted head, in bytes.
  package static let byteLimit = 64 * 1024
  /// The longest accepted body, in bytes.
  package static let bodyByteLimit = 16 * 1024 * 1024

  package let request: Request
  /// The length of the head in bytes of input.
  package let byteCount: Int
  /// The length of the body; zero if it is chunked.
  package let bodyByteCount: Int
  /// Whether the body comes in chunks.
  package let isChunked: Bool

  package var expectsContinue: Bool { request.headers.lists("100-continue", in: "Expect") }

  /// Parses the head at the start of `input`; returns nil when more bytes are needed.
  ///
  /// - Parameters:
  ///   - input: The bytes that have arrived.
  ///   - limit: The longest accepted head, in bytes.
  package static func parse(
    _ input: [UInt8], limit: Int = byteLimit
  ) throws(Refusal) -> RequestHead? {
    guard let end = endOfHead(in: input) else {
      if input.count > limit { throw .headTooLarge }
      return nil
    }
    if end > limit { throw .headTooLarge }
    var lines = input[..<end].split(separator: .lineFeed, omittingEmptySubsequences: false)
      .map { $0.last == .carriageReturn ? $0.dropLast() : $0 }
    lines = Array(lines.drop { $0.isEmpty }.prefix { !$0.isEmpty })
    guard let requestLine = lines.first, !lines.contains(where: \.hasControls) else {
      throw .malformed
    }
    var pairs: [(String, String)] = []
    for line in lines.dropFirst() { pairs.append(try field(line)) }
    let request = try request(requestLine, Headers(pairs))
    return RequestHead(
      request: request, byteCount: end, bodyByteCount: try bodyByteCount(request.headers),
      isChunked: request.headers["Transfer-Encoding"] != nil)
  }

  /// Returns the size that a line before a chunk states, without its extensions.
  ///
  /// - Source: RFC 9112 §7.1.
  package static func chunkSize(_ line: [UInt8]) throws(Refusal) -> Int {
    let digits = line.prefix { $0 != UInt8(ascii: ";") && !$0.isBlank }
    guard !digits.isEmpty, digits.allSatisfy(\.isHexDigit) else { throw .malformed }
    guard let size = Int(digits.text, radix: 16), size <= bodyByteLimit else { throw .bodyTooLarge }
    return size
  }

  /// Returns the index after the blank line that ends the head; blank lines before the head are
  /// skipped.
  private static func endOfHead(in input: [UInt8]) -> Int? {
    var lineIsBlank = true
    var hasBegun = false
    for (index, byte) in input.enumerated() {
      switch byte {
      case .lineFeed:
        if lineIsBlank && hasBegun { return index + 1 }
        lineIsBlank = true
      case .carriageReturn:
        continue
      default:
        (hasBegun, lineIsBlank) = (true, false)
      }
    }
    return nil
  }

  private static func request(_ line: ArraySlice<UInt8>, _ headers: Headers) throws(Refusal)
    -> Request
  {
    let words = line.split(separator: .space, omittingEmptySubsequences: false)
    guard words.count == 3, words[0].isToken,
      words[1].first == UInt8(ascii: "/") || words[1].elementsEqual("*".utf8)
    else { throw .malformed }
    let version = words[2].text
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else { throw .malformed }
    return Request(
      method: words[0].text, path: words[1].text, headers: headers, body: [],
      keepsAlive: version == "HTTP/1.1" && !headers.lists("close", in: "Connection"))
  }

  // The check for a token also refuses folded lines and a space before the colon.
  private static func field(_ line: ArraySlice<UInt8>) throws(Refusal) -> (String, String) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[..<colon].isToken else {
      throw .malformed
    }
    let value = line[(colon + 1)...].drop { $0.isBlank }
    let end = value.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? value.startIndex
    return (line[..<colon].text, value[..<end].text)
  }

  private static func bodyByteCount(_ headers: Headers) throws(Refusal) -> Int {
    let lengths = Set(headers.allValues(of: "Content-Length"))
    let codings = headers.allValues(of: "Transfer-Encoding")
    if !codings.isEmpty {
      guard codings.map({ $0.lowercased() }) == ["chunked"] else { throw .unknownCoding }
      // Two statements of the length can be read in two ways.
      guard lengths.isEmpty else { throw .malformed }
    }
    guard let length = lengths.first else { return 0 }
    guard lengths.count == 1, !length.isEmpty,
      length.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { throw .malformed }
    guard let count = Int(length), count <= bodyByteLimit else { throw .bodyTooLarge }
    return count
  }
}

extension UInt8 {
  fileprivate static let lineFeed = UInt8(ascii: "\n")
  fileprivate static let carriageReturn = UInt8(ascii: "\r")
  fileprivate static let space = UInt8(ascii: " ")

  fileprivate var isBlank: Bool { self == .space || self == UInt8(ascii: "\t") }

  fileprivate var isHexDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
      UInt8(ascii: "a")...UInt8(ascii: "f"):
      true
    default: false
    }
  }

  fileprivate var isTokenByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default:
      "!#$%&'*+-.^_`|~".utf8.contains(self)
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate var text: String { String(decoding: self, as: UTF8.self) }

  fileprivate var isToken: Bool { !isEmpty && allSatisfy(\.isTokenByte) }

  fileprivate var hasControls: Bool { contains { ($0 < 0x20 && !$0.isBlank) || $0 == 0x7f } }
}
