public import Foundation

/// The rules of a transfer for redirects: their targets, their number, and the requests that
/// follow.
struct RedirectPolicy: Sendable {
  /// The greatest number of redirects that a transfer follows.
  static let limit = 20

  private var count = 0

  /// Resolves a `Location` field against the URL of the request; nil without one.
  ///
  /// Linux: a session resolves every relative address against the root, and uses only the path of
  /// an address that is not for HTTP, at the old host.
  static func target(_ location: String?, from url: URL?) -> URL? {
    location.flatMap { URL(string: $0, relativeTo: url)?.absoluteURL }
  }

  /// Counts a redirect, and returns the request that follows it.
  ///
  /// Fails with ``TransferError/unsupportedURL(_:)`` for a target that is no web address, and with
  /// `URLError.httpTooManyRedirects` beyond the limit.
  mutating func next(
    after request: HTTPRequest, by head: HTTPHead, to target: URL
  ) -> Result<HTTPRequest, any Error> {
    guard target.isWebAddress else { return .failure(TransferError.unsupportedURL(target)) }
    count += 1
    guard count <= Self.limit else { return .failure(URLError(.httpTooManyRedirects)) }
    return .success(request.redirected(by: head, to: target))
  }
}

extension HTTPRequest {
  /// Returns the request that follows a redirect of this one.
  ///
  /// POST becomes GET by 301 and 302, and every method but HEAD by 303; then the body is left out.
  /// Otherwise method and body stay. A redirect to an origin that the credentials are not for drops
  /// them, as well as `Authorization`, `Proxy-Authorization` and `Cookie`, for good.
  ///
  /// - Parameters:
  ///   - head: The head of the answer.
  ///   - target: The URL of its `Location`, resolved against ``url``.
  /// - Source: RFC 9110 §15.4.
  public func redirected(by head: HTTPHead, to target: URL) -> HTTPRequest {
    let status = head.status
    let leavesOrigin = !admitsCredentials(for: target)
    var next = self
    next.url = WebAddress(target).url
    next.added = nil  // They depend on the URL.
    next.redirection = Redirection(
      leftOrigin: leavesOrigin,
      lifetimes: [redirection?.lifetime, head.redirectLifetime(of: self)].compactMap { $0 })
    if status == 303 && method != .head || (status == 301 || status == 302) && method == .post {
      next.method = .get
      next.body = nil
      next.headers.removeAll { $0.lowercased().hasPrefix("content-") }
    }
    if leavesOrigin {
      next.account = nil
      next.credentials = [:]
      next.headers.removeAll { CallerFields.authenticates($0) }
    }
    return next
  }
}

/// The redirects that a request has followed.
public struct Redirection: Sendable, Equatable {
  /// Whether one of them led to an origin that the credentials are not for.
  ///
  /// It stays true on the way back, since that origin chose the target.
  public let leftOrigin: Bool

  /// The time for which all of them may be followed without asking again; nil without a limit.
  let lifetime: Duration?

  /// Creates the redirection of a client that follows redirects itself; nothing is known about how
  /// long they are good, so the answer has to be asked for again.
  ///
  /// - Parameter leftOrigin: Whether one of them led to another origin.
  public init(leftOrigin: Bool = false) {
    self.init(leftOrigin: leftOrigin, lifetimes: [.zero])
  }

  init(leftOrigin: Bool, lifetimes: [Duration]) {
    self.leftOrigin = leftOrigin
    lifetime = lifetimes.min()
  }
}

extension HTTPHead {
  /// The time for which this redirect may be followed without asking again; nil for a permanent one
  /// that states none.
  ///
  /// - Source: RFC 9110 §15.4, RFC 9111 §3, §4.2.
  fileprivate func redirectLifetime(of request: HTTPRequest) -> Duration? {
    let parsed = ParsedResponse(status: status, headers: headers)
    let isPermanent = status == 301 || status == 308
    let now = WallTime.now
    guard parsed.prohibition == nil, parsed.statesFreshness || isPermanent,
      let response = StoredResponse(
        self, to: ParsedRequest(request), requestTime: now, responseTime: now)
    else { return .zero }
    if !parsed.statesFreshness, !parsed.directives.has(.noCache) { return nil }
    return HTTPCacheRules.standard.lifetime(of: response, at: now).rest
  }
}
