/// What a head says of its body's length.
///
/// - Source: RFC 9112 §6.3.
enum Framing: Equatable, Sendable {
  case exactly(Int)

  /// Some bytes; if a length was stated, it is that of the encoded body.
  case encoded(length: Int?)
  case untilTheEnd

  init(_ head: HTTPHead) throws(TransferError) {
    let stated = try Self.contentLength(head.headers)
    if head.status == 204 || head.status == 205 {
      self = .exactly(0)
    } else if head.headers.areOfEncoded {
      self = .encoded(length: head.headers["Transfer-Encoding"] == nil ? stated : nil)
    } else if head.headers["Transfer-Encoding"] != nil {
      self = .untilTheEnd  // It overrides a length, RFC 9112 §6.3.
    } else {
      self = stated.map { .exactly($0) } ?? .untilTheEnd
    }
  }

  /// The number of bytes, if that is known.
  var expected: Int? { if case .exactly(let count) = self { count } else { nil } }

  /// Whether a body that has come to its end has all its bytes.
  func check(received count: Int) throws(TransferError) {
    switch self {
    case .exactly(let expected) where count < expected:
      throw .truncated(received: count, expected: expected)
    case .encoded(let length) where count == 0 && length != Self.gzipOfNothing:
      // Linux: what URLSession can't decode ends so, without an error (swift-corelibs-foundation,
      // seen in 6.3.1).
      throw .invalidResponse(reason: "no bytes could be decoded by its Content-Encoding")
    default: break
    }
  }

  /// The length of an empty body in gzip: a head of ten bytes, two of nothing, and eight behind.
  ///
  /// - Source: RFC 1952 §2.3.
  private static let gzipOfNothing = 20

  private static func contentLength(_ headers: HeaderFields) throws(TransferError) -> Int? {
    let values = headers.values(of: "Content-Length")
    guard let value = values.first else { return nil }
    let isNumber = !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
    guard values.count == 1, isNumber, let length = Int(value) else {
      let stated = values.joined(separator: ", ").prefix(80)
      throw .invalidResponse(reason: "Content-Length \"\(stated)\"")
    }
    return length
  }
}

extension HeaderFields {
  /// Whether the body is not as it is at the origin.
  var areOfEncoded: Bool {
    values(of: "Content-Encoding").contains { !$0.isEmpty && $0.lowercased() != "identity" }
  }
}
