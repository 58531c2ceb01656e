import MillpondCore

extension Validator {
  /// Creates the validator of a response; nil if it has none.
  init?(_ headers: HeaderFields) {
    self.init(entityTag: headers["ETag"], lastModified: headers["Last-Modified"])
    if isEmpty { return nil }
  }

  /// The names of the fields of ``conditions``.
  static let conditionNames = ["If-None-Match", "If-Modified-Since"]

  /// The fields that ask the origin whether the version is still current; none if it can't be asked.
  ///
  /// - Source: RFC 9111 §4.3.1.
  var conditions: [(name: String, value: String)] {
    let tag = entityTag.flatMap { EntityTag($0) }?.text
    let date = lastModified.flatMap { HTTPDate($0) == nil ? nil : $0 }
    return zip(Self.conditionNames, [tag, date]).compactMap { name, value in
      value.map { (name: name, value: $0) }
    }
  }

  /// Whether a 304 confirms the version.
  ///
  /// - Parameters:
  ///   - headers: The fields of the 304.
  ///   - isAsked: Whether the request had the conditions of this version.
  /// - Source: RFC 9111 §4.3.4.
  func isConfirmed(by headers: HeaderFields, isAsked: Bool) -> Bool {
    let own = entityTag.flatMap { EntityTag($0) }
    if !headers.values(of: "ETag").isEmpty {
      // A tag that can't be read names no version.
      guard let own, let tag = EntityTag(of: headers) else { return false }
      return isAsked ? tag.isWeaklyEqual(to: own) : tag.isStronglyEqual(to: own)
    }
    if own == nil, let date = headers["Last-Modified"] { return isAsked && date == lastModified }
    return isAsked
  }
}
