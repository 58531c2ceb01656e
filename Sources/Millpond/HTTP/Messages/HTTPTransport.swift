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

  /// The capabilities on which a source relies; by default none.
  ///
  /// A transport that wraps another one passes the other's on.
  var capabilities: TransportCapabilities { get }
}

extension HTTPTransport {
  /// No capabilities: the transport stores nothing, and does not wait for a slow receiver.
  public var capabilities: TransportCapabilities { TransportCapabilities() }
}

/// The capabilities of a transport on which an ``HTTPSource`` and a ``MediaCache`` rely.
///
///     struct SigningTransport: HTTPTransport {
///       let base: any HTTPTransport
///       var capabilities: TransportCapabilities { base.capabilities }
///
///       func send(_ request: HTTPRequest) -> Signal<HTTPPart> { base.send(signed(request)) }
///     }
public struct TransportCapabilities: Sendable {
  /// Whether a slow receiver slows the origin down, so that only a few parts are in memory however
  /// long a delivery takes.
  ///
  /// If it does not, a ``MediaCache`` requests large files in ranges, one after another, so that
  /// they do not pile up in memory.
  public var appliesBackpressure: Bool

  /// Returns the fields that the transport adds to a request by itself, such as cookies; nil if it
  /// adds none by which an origin may know the caller.
  ///
  /// An ``HTTPCache`` tells users apart by them, and passes them on among
  /// ``HTTPRequest/fields``, so that the transport does not add them again.
  public var addedFields: (@Sendable (HTTPRequest) -> HeaderFields)?

  /// The HTTP cache that requests pass; nil if there is none.
  let cache: HTTPCache?

  /// Creates the capabilities of a transport that stores nothing.
  ///
  /// - Parameters:
  ///   - appliesBackpressure: Whether a slow receiver slows the origin down.
  ///   - addedFields: Returns the fields that the transport adds to a request by itself.
  public init(
    appliesBackpressure: Bool = false,
    addedFields: (@Sendable (HTTPRequest) -> HeaderFields)? = nil
  ) {
    self.init(
      appliesBackpressure: appliesBackpressure, addedFields: addedFields, cache: nil)
  }

  init(
    appliesBackpressure: Bool, addedFields: (@Sendable (HTTPRequest) -> HeaderFields)?,
    cache: HTTPCache?
  ) {
    self.appliesBackpressure = appliesBackpressure
    self.addedFields = addedFields
    self.cache = cache
  }
}
