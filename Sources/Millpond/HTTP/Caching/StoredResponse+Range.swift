import Foundation

extension StoredResponse {
  /// An answer to a request for a range.
  enum Part: Equatable {
    /// The whole response: the request's condition is false, or its range means nothing.
    case whole

    /// These bytes, with status 206.
    case bytes(Range<Int>)

    /// No byte of the body: status 416.
    case none
  }

  /// Returns the part of the body that a request for a range gets; nil if only the origin can
  /// answer.
  ///
  /// - Source: RFC 9110 §14.2, §13.1.5.
  func part(for request: ParsedRequest) -> Part? {
    guard let text = request.range, request.method == "GET" else { return .whole }
    if let condition = request.rangeCondition {
      guard let holds = fulfills(condition) else { return nil }
      if !holds { return .whole }
    }
    // Other statuses have no ranges, and the bytes of a decoded body are not those that it counts.
    guard status == 200, !parsed.isDecoded else { return nil }
    return Part(text, of: body.byteCount)
  }

  /// Whether the version is that of an `If-Range`; nil if it is neither a tag nor a date.
  private func fulfills(_ condition: String) -> Bool? {
    if let tag = EntityTag(condition) {
      return parsed.entityTag.map { $0.isStronglyEqual(to: tag) } ?? false
    }
    guard let date = HTTPDate(condition) else { return nil }
    guard let sent = parsed.date, date.microseconds == parsed.lastModified else { return false }
    return date.isStrong(ofAnswerSentAt: Int(sent / 1_000_000))
  }

  /// Returns the head of an answer with these bytes.
  func head(of bytes: Range<Int>) -> HTTPHead {
    var fields = headers
    fields.set("\(bytes.count)", for: "Content-Length")
    fields.set(
      "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(body.byteCount)", for: "Content-Range")
    return HTTPHead(status: 206, headers: fields)
  }
}

extension StoredResponse.Part {
  /// Creates the part of a body of so many bytes that a `Range` field asks for; nil for several
  /// ranges, other units, and anything that is not valid.
  ///
  /// - Source: RFC 9110 §14.1.2.
  init?(_ text: String, of count: Int) {
    guard text.utf8.count <= 64, text.lowercased().hasPrefix("bytes=") else { return nil }
    let bounds = text.dropFirst(6).withoutSpaces
      .split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return nil }
    let first = Int(digits: bounds[0])
    let last = Int(digits: bounds[1])
    if bounds[0].isEmpty {
      guard let last else { return nil }
      let length = min(last, count)
      self = length > 0 ? .bytes(count - length..<count) : .none
      return
    }
    guard let first, bounds[1].isEmpty || last.map({ $0 >= first }) == true else { return nil }
    self = first < count ? .bytes(first..<min(last ?? count - 1, count - 1) + 1) : .none
  }
}
