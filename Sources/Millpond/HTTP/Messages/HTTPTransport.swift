public import MillpondSignals

/// A client that carries out requests; another HTTP client can be plugged in here.
///
/// A transport only moves bytes. ``HTTPSource`` handles statuses, lengths, limits and timeouts for
/// every transport. To write one, send the head, then the body in pieces, then complete; fail with
/// any error; and stop when the lifetime ends:
///
///     struct MyTransport: HTTPTransport {
///       func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
///         .create { observer, lifetime in
///           let fields = request.headers.fields + request.credentials.fields
///           let call = client.get(request.url, fields) { event in
///             switch event {
///             case .head(let head): observer.next(.head(HTTPHead(status: head.code, …)))
///             case .bytes(let bytes): observer.next(.body(Data(bytes)))
///             case .end(nil): observer.completed()
///             case .end(let error?): observer.failed(error)
///             }
///           }
///           lifetime.onEnd { call.cancel() }
///         }
///       }
///     }
///
/// Follow at most 20 redirects, and only to `http` and `https`; send ``HTTPRequest/credentials``
/// along only if scheme, host and port stay the same. Decompress the body, and leave
/// `Content-Encoding` in the head, so that the length is not checked. Mark the head of an
/// answer after a redirect, and of another origin's. If the priority of a sent request can be changed, use
/// ``HTTPRequest/onRaise(_:)``.
public protocol HTTPTransport: Sendable {
  /// Returns the origin's answer: its head, and then its body in pieces.
  ///
  /// Nothing is sent before the signal is subscribed to. The end of the subscription ends the
  /// transfer. Heads of 1xx may be passed on or not.
  func send(_ request: HTTPRequest) -> Signal<HTTPPart>

  /// Whether a slow receiver slows the origin down, so that only a few parts are in memory however
  /// long a delivery takes.
  ///
  /// If it does not, a ``MediaCache`` requests large files in ranges, one after another, so that
  /// they do not pile up in memory. A transport that wraps another one should pass this on. False
  /// by default.
  var appliesBackpressure: Bool { get }
}

extension HTTPTransport {
  /// False: bytes that arrive faster than they are taken may pile up.
  public var appliesBackpressure: Bool { false }
}
