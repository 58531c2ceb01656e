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
    guard status == 200, !parsed.isDecoded, let range = RequestedRange(text) else { return nil }
    return range.part(of: body.byteCount)
  }

  /// Whether the version is that of an `If-Range`; nil if it is neither a tag nor a date.
  private func fulfills(_ condition: String) -> Bool? {
    if let tag = EntityTag(condition) {
      return parsed.entityTag.map { $0.isStronglyEqual(to: tag) } ?? false
    }
    guard let date = HTTPDate.inGMT(condition) else { return nil }
    // RFC 9110 §8.8.2.2: a date is strong if the response is at least a minute younger.
    guard let changed = parsed.lastModified, let sent = parsed.date else { return false }
    return date.microseconds == changed && sent - changed >= 60_000_000
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

/// A single range of bytes of a request.
///
/// - Source: RFC 9110 §14.1.2.
enum RequestedRange: Equatable {
  case from(Int, through: Int?)
  case last(Int)

  /// Parses a `Range` field; nil for several ranges, other units, and anything that is not valid.
  init?(_ text: String) {
    guard text.utf8.count <= 64, text.lowercased().hasPrefix("bytes=") else { return nil }
    let bounds = text.dropFirst(6).withoutSpaces
      .split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return nil }
    let first = Int(digits: bounds[0])
    let last = Int(digits: bounds[1])
    if bounds[0].isEmpty {
      guard let last else { return nil }
      self = .last(last)
      return
    }
    guard let first, bounds[1].isEmpty || last.map({ $0 >= first }) == true else { return nil }
    self = .from(first, through: last)
  }

  /// Returns the part of a body of so many bytes.
  func part(of count: Int) -> StoredResponse.Part {
    switch self {
    case .last(let suffix):
      let length = min(suffix, count)
      return length > 0 ? .bytes(count - length..<count) : .none
    case .from(let first, let last):
      if first >= count { return .none }
      return .bytes(first..<min(last ?? count - 1, count - 1) + 1)
    }
  }
}
