public import Foundation
public import MillpondCore
public import MillpondSignals

/// A request for a transport.
///
///     HTTPRequest(url: url, headers: ["Accept": "image/webp"])
///     HTTPRequest.post(url, try .json(order))
///
/// A user and a password in the URL become ``credentials`` (RFC 7617, Basic), so that neither
/// errors nor another origin see them.
public struct HTTPRequest: Sendable {
  /// The method.
  public internal(set) var method: HTTPMethod

  /// The URL; `http` or `https`, with a host, and without a user or password.
  public internal(set) var url: URL

  /// The fields to send in addition to the transport's own; a transport sends ``fields``.
  public internal(set) var headers: HeaderFields

  /// The fields that authenticate the caller.
  ///
  /// They are sent like ``headers``, but only to the scheme, host and port of ``url``, and to the
  /// other origins of an ``HTTPAuthorization``: a redirect to any other origin drops them.
  public internal(set) var credentials: HeaderFields

  /// The body; nil for none.
  public internal(set) var body: HTTPBody?

  /// The urgency of the answer; ``HTTPSource`` sets it for each get.
  public internal(set) var priority: Priority

  /// The redirects that led to this request; a transport marks the head of the answer with it.
  public internal(set) var redirection: Redirection?

  /// The fields that the transport adds by itself; nil until they are known.
  var added: HeaderFields?

  /// Whether the answer's body is passed on in parts, to a subscriber that may be slow.
  var isStreamed = false

  /// The effect that the caller has declared; nil for that of the method.
  private var declaredEffect: Effect?

  /// The URL of which the caller knows the origin, and those that the credentials are for too.
  private var origins: [URL]

  private var givenLookup: Lookup?

  /// The validator of the stored value that the request's conditions ask about; nil if it has none,
  /// or only those of its maker.
  var known: Validator?

  private let name: String?

  /// The account on behalf of which the request is made, if its credentials name one.
  var account: Account?

  /// An account, and the fields that authenticate it now.
  struct Account: Sendable {
    let name: String
    let credentials: HeaderFields
  }

  private enum Effect { case safe, idempotent }

  /// Creates a request.
  ///
  /// Nothing is checked here. A request that is not well-formed fails with
  /// ``TransferError/invalidRequest(reason:url:)`` before anything is sent: a method or the name of
  /// a field that is not a token, a field with a line break, a body with GET or HEAD.
  ///
  /// - Parameters:
  ///   - url: The URL; `http` or `https`, with a host.
  ///   - method: The method.
  ///   - headers: The fields to send in addition to the transport's own.
  ///   - credentials: The fields to send only to the origin of `url`.
  ///   - body: The body.
  ///   - identity: A lasting name of the resource, if its URL does not last, for example because it
  ///     is signed for an hour; by default the URL.
  ///   - priority: The urgency of the answer.
  public init(
    url: URL, method: HTTPMethod = .get, headers: HeaderFields = [:],
    credentials: HeaderFields = [:], body: HTTPBody? = nil, identity: String? = nil,
    priority: Priority = .normal
  ) {
    let address = WebAddress(url)
    self.url = address.url
    self.method = method
    self.headers = headers
    self.credentials = credentials
    self.body = body
    self.priority = priority
    name = identity
    origins = [address.url]
    if let basic = address.credentials, headers[Self.authorization] == nil,
      credentials[Self.authorization] == nil
    {
      self.credentials.append(basic, for: Self.authorization)
    }
  }

  static let authorization = "Authorization"

  /// The name of the resource, under which the bytes of an interrupted transfer are found again.
  public var identity: String { name ?? url.absoluteString }

  /// All fields to send: ``headers``, the media type of the body, ``credentials``, and those that
  /// the transport adds by itself, as far as they are known.
  public var fields: HeaderFields {
    var fields = headers
    if let body, fields["Content-Type"] == nil {
      fields.append(body.contentType, for: "Content-Type")
    }
    fields.append(credentials)
    if let added { fields.append(added) }
    return fields
  }

  /// Returns a copy with the fields that its transport adds, if it has not got them yet.
  func adding(_ capabilities: TransportCapabilities) -> HTTPRequest {
    guard added == nil, let fields = capabilities.addedFields else { return self }
    var request = self
    request.added = fields(self)
    return request
  }
}

extension HTTPRequest {
  /// Whether the request only reads, by its method or as declared.
  ///
  /// Only such a request may be cached, shared by several callers, or sent ahead of need.
  public var isSafe: Bool { declaredEffect == .safe || method.isSafe }

  /// Whether the request may be repeated when its outcome is unknown, by its method or as declared.
  public var isIdempotent: Bool { declaredEffect != nil || method.isIdempotent }

  /// Returns the request, which counts as one that only reads: a search by POST, for example.
  public func assumedSafe() -> HTTPRequest { declared(.safe) }

  /// Returns the request, which counts as one that may be repeated: with an `Idempotency-Key`, for
  /// example.
  public func assumedIdempotent() -> HTTPRequest { isSafe ? self : declared(.idempotent) }

  private func declared(_ effect: Effect) -> HTTPRequest {
    var request = self
    request.declaredEffect = effect
    return request
  }
}

extension HTTPRequest {
  /// Whether ``credentials`` may be sent to a URL: the scheme, host and port are those of the
  /// request, or of an origin that its ``HTTPAuthorization`` lists.
  ///
  /// Subdomains are other origins, and so are other ports.
  ///
  /// - Parameter url: The URL to which they would be sent.
  public func admitsCredentials(for url: URL) -> Bool {
    redirection?.leftOrigin != true && origins.contains { url.isOfSameOrigin(as: $0) }
  }

  /// Returns a copy with these credentials, which replace fields of the same names.
  ///
  /// - Parameters:
  ///   - credentials: The fields.
  ///   - others: The other origins that may receive them.
  ///   - account: The name of the account that they are for, if it has one.
  func authorized(
    by credentials: HeaderFields, for others: [URL] = [], account: String? = nil
  ) -> HTTPRequest {
    var request = self
    request.account = account.map { Account(name: $0, credentials: credentials) }
    for field in credentials.fields {
      request.headers.set(nil, for: field.name)
      request.credentials.set(nil, for: field.name)
    }
    request.credentials.append(credentials)
    request.origins += others
    request.added = nil  // A refusal may have set cookies.
    return request
  }
}

extension HTTPRequest: CustomStringConvertible {
  /// The method and the URL, without query values and fields.
  public var description: String { "\(method) \(url.textWithoutSecrets)" }
}

extension HTTPRequest: CustomReflectable {
  /// No children, so that a dump shows no credentials.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPRequest {
  /// Calls `act` each time the answer becomes more urgent because another subscriber waits for it.
  ///
  ///     let raising = request.onRaise { call.priority = $0 }
  ///     lifetime.onEnd { raising?.dispose() }
  ///
  /// - Parameter act: Runs on the thread of that subscriber.
  /// - Returns: A handle that ends the calls; nil if the priority cannot change.
  public func onRaise(_ act: @escaping @Sendable (Priority) -> Void) -> Disposable? {
    givenLookup?.onRaise(act)
  }

  /// The terms of the get that makes the request.
  var lookup: Lookup { givenLookup ?? Lookup(priority: priority) }

  func forLookup(_ lookup: Lookup) -> HTTPRequest {
    var request = onBehalf(of: lookup)
    // RFC 9111 §5.2.1.4: no cache on the way may answer by itself.
    if !lookup.freshness.admitsStored {
      request.headers.append("no-cache", for: "Cache-Control")
    }
    return request
  }

  /// Returns a copy for another lookup: that of a flight on behalf of its callers.
  func onBehalf(of lookup: Lookup) -> HTTPRequest {
    var request = self
    request.priority = lookup.priority
    request.givenLookup = lookup.asking(about: nil)
    return request
  }

  /// The request for whatever is stored, stale or not.
  var onlyIfCached: HTTPRequest {
    var request = self
    request.headers.append("only-if-cached, max-stale", for: "Cache-Control")
    return request
  }
}

extension HTTPRequest {
  /// The name under which the first bytes of the answer are stored: the resource, and every field
  /// that may select one of its representations.
  ///
  /// All fields count, since not every origin names in `Vary` the ones that it depends on. It may
  /// contain secrets, so only a hash of it is written to disk.
  var representation: Representation {
    let fields = (headers.fields + credentials.fields + (added?.fields ?? []))
      .map { (name: $0.name.lowercased(), value: $0.value) }
      .filter { !Self.neutralFields.contains($0.name) }
    let lines = fields.enumerated()
      // Repeated fields keep their order.
      .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
      .map { "\($0.element.name):\($0.element.value)\n" }
    return Representation(identity: identity, fields: lines.joined())
  }

  /// Whether ranges of the answer may be requested: only of a GET that is not for a range itself.
  var canBeResumed: Bool { method == .get && headers["Range"] == nil }

  /// The fields that never select a representation.
  private static let neutralFields: Set<String> = [
    "cache-control", "pragma", "if-none-match", "if-modified-since",
  ]
}

/// One of the forms of a resource: its identity, and the fields of a request that may select the
/// form.
struct Representation: Sendable, Hashable {
  let identity: String
  var fields = ""
}
