import MillpondCore
import MillpondSignals

extension HTTPRequest {
  /// Returns the request for an answer only if the value with this validator has changed.
  ///
  /// It is the same request if it has conditions already, asks for a part, or isn't a GET.
  ///
  /// - Source: RFC 9110 §13.1.2, §13.1.3.
  func revalidating(_ known: Validator) -> HTTPRequest {
    let others = Validator.conditionNames + ["If-Match", "If-Unmodified-Since", "Range"]
    let conditions = known.conditions
    guard method == .get, !conditions.isEmpty, others.allSatisfy({ headers[$0] == nil })
    else { return self }
    var request = self
    request.known = known
    for field in conditions { request.headers.set(field.value, for: field.name) }
    return request
  }

  /// The same request without the conditions about a stored value.
  var needingValue: HTTPRequest {
    if known == nil { return self }
    var request = self
    request.known = nil
    for name in Validator.conditionNames { request.headers.set(nil, for: name) }
    return request
  }

  /// Sends the request; a 304 that confirms the known value becomes its answer by
  /// ``Signal/answers()``.
  ///
  /// A 304 that confirms another version is no answer: then the request is sent without conditions.
  ///
  /// - Parameter send: Sends a request.
  func revalidating<Element>(
    _ send: @escaping @Sendable (HTTPRequest) -> Signal<Element>
  ) -> Signal<Element> {
    guard let known else { return send(self) }
    return send(self).recover { error in
      guard case TransferError.status(304, let headers, _) = error else {
        return .fail(error)
      }
      return known.isConfirmed(by: headers, isAsked: true) ? .fail(Confirmed()) : send(needingValue)
    }
  }
}

/// The end of a transfer whose value the caller has, on its way past what takes parts of a value.
private struct Confirmed: Error {}

extension Signal {
  /// Returns the values as answers, and the answer that the known one is still current.
  func answers<Content>() -> Signal<Answer<Content>> where Value == Stamped<Content> {
    map { .value($0) }.recover { $0 is Confirmed ? .just(.notModified()) : .fail($0) }
  }
}
