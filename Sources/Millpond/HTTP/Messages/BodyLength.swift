/// The length of a body, as its head states it.
///
/// - Source: RFC 9112 §6.3.
enum BodyLength: Equatable, Sendable {
  case exactly(Int)

  /// Encoded bytes; a stated length is that of the encoded body.
  case encoded(length: Int?)
  case untilTheEnd

  /// Creates the length of an answer's body.
  ///
  /// - Parameters:
  ///   - head: The head of the answer.
  ///   - hasBody: False for an answer to HEAD, whose length is that of the answer to a GET.
  init(_ head: HTTPHead, hasBody: Bool = true) throws(TransferError) {
    let stated = try Self.contentLength(head.headers)
    if !hasBody || [204, 205, 304].contains(head.status) {
      self = .exactly(0)
    } else if head.headers.areOfEncoded {
      self = .encoded(length: head.headers["Transfer-Encoding"] == nil ? stated : nil)
    } else if head.headers["Transfer-Encoding"] != nil {
      self = .untilTheEnd  // It overrides a length, RFC 9112 §6.3.
    } else {
      self = stated.map { .exactly($0) } ?? .untilTheEnd
    }
  }

  /// The number of bytes, if it is known.
  var expected: Int? { if case .exactly(let count) = self { count } else { nil } }

  /// Checks that a body that has ended is complete.
  func check(received count: Int) throws(TransferError) {
    switch self {
    case .exactly(let expected) where count < expected:
      throw .truncated(received: count, expected: expected)
    case .encoded(let length) where count == 0 && length != Self.gzipOfNothing:
      // Linux: a body that URLSession can't decode ends like this, without an error
      // (swift-corelibs-foundation, seen in 6.3.1).
      throw .invalidResponse(reason: "no bytes could be decoded by its Content-Encoding")
    default: break
    }
  }

  /// The length of an empty body in gzip: a header of ten bytes, two bytes of data, and a trailer
  /// of eight.
  ///
  /// - Source: RFC 1952 §2.3.
  private static let gzipOfNothing = 20

  private static func contentLength(_ headers: HeaderFields) throws(TransferError) -> Int? {
    let values = headers.values(of: "Content-Length")
    guard let value = values.first else { return nil }
    let isNumber = !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
    guard values.count == 1, isNumber, let length = Int(value) else {
      let stated = values.joined(separator: ", ").prefix(80)
      throw .invalidResponse(reason: "malformed Content-Length \"\(stated)\"")
    }
    return length
  }
}

extension HeaderFields {
  /// Whether the body has a content encoding.
  var areOfEncoded: Bool {
    values(of: "Content-Encoding").contains { !$0.isEmpty && $0.lowercased() != "identity" }
  }
}
