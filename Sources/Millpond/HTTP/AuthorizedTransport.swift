import MillpondSignals

/// A transport that sends each request with credentials, and once more with new ones if these are
/// refused.
///
/// So credentials that expire between two ranges of a body are renewed for the next one.
struct AuthorizedTransport: HTTPTransport {
  let base: any HTTPTransport
  let authorization: HTTPAuthorization

  var appliesBackpressure: Bool { base.appliesBackpressure }

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    authorization.authorizing(request) { request in
      base.send(request).attemptMap { part in
        if case .head(let head) = part, head.status == 401 {
          throw TransferError.status(code: head.status, headers: head.headers)
        }
        return part
      }
    }
  }
}
