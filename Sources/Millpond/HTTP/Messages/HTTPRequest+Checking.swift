import Foundation

extension HTTPRequest {
  /// The reason why the request must not reach a transport; nil if it is well-formed.
  ///
  /// It quotes no value of a field, and the name of a field only if that is a token.
  var problem: TransferError? {
    reasonAgainstMethod.map { .invalidRequest(reason: $0) }
      ?? fields.fields.lazy.compactMap { Self.reason(against: $0) }.first
      .map { .invalidRequest(reason: $0) }
  }

  private var reasonAgainstMethod: String? {
    if !method.name.isToken { return "the method is not a token" }
    // CONNECT would make a tunnel of the connection.
    if method == "CONNECT" { return "CONNECT is not a request for a resource" }
    if body != nil, [.get, .head, "TRACE"].contains(method) { return "\(method) has no body" }
    return nil
  }

  private static func reason(against field: (name: String, value: String)) -> String? {
    guard field.name.isToken else { return "the name of a field is not a token" }
    let name = field.name.prefix(80)
    if field.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) {
      return "the field \(name) has a line break or another control character"
    }
    // Two statements of the length would let one connection be read in two ways.
    if framingFields.contains(field.name.lowercased()) { return "the transport sets \(name)" }
    return nil
  }

  private static let framingFields: Set<String> = ["content-length", "transfer-encoding"]
}

extension TransferError {
  /// The failure of a body that can be sent only once.
  static let sentAlready = invalidRequest(
    reason: "the body is a sequence, which was sent already and can't be sent again; "
      + "use a file, or a signal that can run again")

  static func unreadable(_ file: URL) -> TransferError {
    invalidRequest(reason: "the body is no file that can be read: \(file.lastPathComponent)")
  }

  static func wrongLength(stated: Int) -> TransferError {
    invalidRequest(reason: "the body does not have the \(stated) bytes that were stated")
  }

  static func unsafeGet(_ method: HTTPMethod) -> TransferError {
    invalidRequest(
      reason: "a get may be repeated, shared and cached, and \(method) is not safe: use send(_:), "
        + "or assumedSafe() if this request only reads")
  }
}

extension String {
  /// Whether this is a token.
  ///
  /// - Source: RFC 9110 §5.6.2.
  fileprivate var isToken: Bool {
    !isEmpty && utf8.allSatisfy(\.isTokenByte)
  }
}
