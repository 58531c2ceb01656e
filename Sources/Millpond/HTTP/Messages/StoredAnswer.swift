/// The statement of an ``HTTPCache`` that an answer is a stored one.
///
/// - Source: RFC 9211.
enum StoredAnswer {
  static let field = "Cache-Status"

  /// The value of an answer for which no request was sent.
  static let hit = "Millpond; hit"

  /// The value of an answer that the origin has confirmed, or that stands in for its failure.
  static let afterQuestion = "Millpond; fwd=stale"

  /// The age of an answer with these fields, in seconds, zero if it is unknown; nil if it is none
  /// that was stored.
  static func age(_ headers: HeaderFields) -> Int? {
    guard let last = headers.values(of: field).last, last == hit || last == afterQuestion else {
      return nil
    }
    return headers["Age"].flatMap { Int(digits: $0[...]) } ?? 0
  }
}
