import MillpondCore
import MillpondSignals

extension HTTPRequest {
  /// Returns the request for an answer only if the value with this validator has changed.
  ///
  /// It is the same request if it has conditions already, asks for a part, or isn't a GET.
  ///
  /// - Source: RFC 9110 §13.1.2, §13.1.3.
  func revalidating(_ known: Validator) -> HTTPRequest {
    let others = ["If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "Range"]
    guard method == .get, others.allSatisfy({ headers[$0] == nil }) else { return self }
    var request = self
    request.known = known
    if let tag = known.entityTag.flatMap({ EntityTag($0) }) {
      request.headers.set(tag.text, for: "If-None-Match")
    } else if let date = known.lastModified, HTTPDate(date) != nil {
      request.headers.set(date, for: "If-Modified-Since")
    } else {
      return self
    }
    return request
  }

  /// The same request without the conditions about a stored value.
  var needingValue: HTTPRequest {
    if known == nil { return self }
    var request = self
    request.known = nil
    for name in ["If-None-Match", "If-Modified-Since"] { request.headers.set(nil, for: name) }
    return request
  }

  /// Sends the request, and takes a 304 for the answer that the known value is still current.
  ///
  /// A 304 that confirms another version is no answer: then the request is sent without conditions.
  ///
  /// - Parameters:
  ///   - notModified: Returns the answer if the value is still current.
  ///   - send: Sends a request.
  func revalidating<Element>(
    _ notModified: @escaping @Sendable () -> Signal<Element>,
    _ send: @escaping @Sendable (HTTPRequest) -> Signal<Element>
  ) -> Signal<Element> {
    guard let known else { return send(self) }
    return send(self).recover { error in
      guard case TransferError.status(304, let headers, _) = error else {
        return .fail(error)
      }
      return known.isConfirmed(by: headers) ? notModified() : send(needingValue)
    }
  }
}

extension Validator {
  /// Whether a 304 with these fields, in answer to a question about this validator, confirms it.
  ///
  /// - Source: RFC 9111 §4.3.4.
  fileprivate func isConfirmed(by headers: HeaderFields) -> Bool {
    let tags = headers.values(of: "ETag")
    if !tags.isEmpty {
      guard let tag = EntityTag(of: headers), let own = entityTag.flatMap({ EntityTag($0) }) else {
        return false
      }
      return tag.isWeaklyEqual(to: own)
    }
    guard entityTag == nil, let date = headers["Last-Modified"] else { return true }
    return date == lastModified
  }
}
