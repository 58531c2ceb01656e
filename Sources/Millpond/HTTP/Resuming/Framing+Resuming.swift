extension Framing {
  /// What a head says that answers the question for the rest of a body.
  ///
  /// - Throws: The status, if this is not the rest of these very bytes, or not all of it.
  init(_ head: HTTPHead, resuming earlier: Beginning) throws(TransferError) {
    guard let range = ContentRange(head.headers), range.first == earlier.byteCount,
      range.last == range.total - 1, !head.headers.areOfEncoded,
      earlier.edition.isOf(head, total: range.total)
    else { throw .status(code: 206, headers: head.headers) }
    self = .exactly(range.total)
  }

  /// Whether the rest can be asked for of what broke off; of chunks, only if they weren't encoded.
  var canBeResumed: Bool {
    if case .encoded = self { false } else { true }
  }
}

/// What a `Content-Range` of bytes says.
///
/// - Source: RFC 9110 §14.4.
struct ContentRange: Equatable {
  let first: Int
  let last: Int
  let total: Int

  init?(_ headers: HeaderFields) {
    let values = headers.values(of: "Content-Range")
    guard values.count == 1, let parts = values.first?.split(separator: " "), parts.count == 2,
      parts[0].lowercased() == "bytes"
    else { return nil }
    let numbers = parts[1].split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "/" }
    guard numbers.count == 3, let first = Int(digits: numbers[0]),
      let last = Int(digits: numbers[1]), let total = Int(digits: numbers[2]),
      first <= last, last < total
    else { return nil }
    self.first = first
    self.last = last
    self.total = total
  }
}
