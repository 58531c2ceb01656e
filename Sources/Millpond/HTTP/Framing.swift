/// What a head says of its body's length.
///
/// - Source: RFC 9112 §6.3.
enum Framing: Equatable {
  /// So many bytes.
  case exactly(Int)

  /// Some bytes: the length that was stated is that of the encoded body.
  case encoded

  /// Whatever comes.
  case untilTheEnd

  init(_ head: HTTPHead) throws(TransferError) {
    let isEncoded = head.headers.values(of: "Content-Encoding").contains {
      !$0.isEmpty && $0.lowercased() != "identity"
    }
    let stated = try Self.contentLength(head.headers)
    if head.status == 204 || head.status == 205 {
      self = .exactly(0)
    } else if isEncoded {
      self = .encoded
    } else if head.headers["Transfer-Encoding"] != nil {
      self = .untilTheEnd  // It overrides a length, RFC 9112 §6.3.
    } else {
      self = stated.map { .exactly($0) } ?? .untilTheEnd
    }
  }

  /// How many bytes there will be, if that is known.
  var expected: Int? {
    if case .exactly(let count) = self { count } else { nil }
  }

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
