public import MillpondSignals

/// A client that carries out requests; another HTTP client can be plugged in here.
///
/// A transport only moves bytes. ``HTTPSource`` handles statuses, lengths, limits and timeouts for
/// every transport. To write one, send the method, the fields and the body; then pass on the head,
/// the body in pieces, and the end; fail with any error; and stop when the lifetime ends:
///
///     struct MyTransport: HTTPTransport {
///       func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
///         .create { observer, lifetime in
///           let call = client.send(request.method.name, request.url, request.fields.fields)
///           call.receive { event in
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
/// <doc:WritingATransport> has the rules, and `TransportLaws` of `MillpondHTTPTesting` checks them.
public protocol HTTPTransport: Sendable {
  /// Returns the origin's answer: its head, and then its body in pieces.
  ///
  /// Nothing is sent before the signal is subscribed to. The end of the subscription ends the
  /// transfer. Heads of 1xx may be passed on or not.
  ///
  /// - Parameter request: The request.
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
