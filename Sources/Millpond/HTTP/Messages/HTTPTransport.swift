public import MillpondSignals

/// Carries a request out: the seam where another HTTP client can be plugged in.
///
/// A transport only moves bytes. Statuses, lengths, limits and timeouts are the business of
/// ``HTTPSource``, for every transport. To write one, send the head, then the body in pieces, then
/// complete; fail with whatever goes wrong; and stop when the lifetime ends:
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
/// Redirects are to be followed, at most 20, and only to `http` and `https`; what is in
/// ``HTTPRequest/credentials`` goes along only where scheme, host and port stay the same. A body is
/// to be decompressed, with its `Content-Encoding` left in the head: its length is not checked then. An
/// answer of another origin says so in its head. A transport that can change the priority of a request
/// that it has sent listens to ``HTTPRequest/onRaise(_:)``.
public protocol HTTPTransport: Sendable {
  /// What the origin answers: its head, and then its body, piece by piece.
  ///
  /// Nothing is sent before the signal is subscribed to. The end of the subscription ends the
  /// transfer. Heads of 1xx may be passed on or not.
  func send(_ request: HTTPRequest) -> Signal<HTTPPart>

  /// Whether a slow receiver slows the origin down: no more than a few parts are in memory, however
  /// long the delivery of one takes.
  ///
  /// Where it doesn't, a ``MediaCache`` asks for large files in ranges, one after the other, so that
  /// they don't pile up in memory. A transport that wraps another one passes this on. False by default.
  var appliesBackpressure: Bool { get }
}

extension HTTPTransport {
  /// False: what is received faster than it is taken may pile up.
  public var appliesBackpressure: Bool { false }
}
