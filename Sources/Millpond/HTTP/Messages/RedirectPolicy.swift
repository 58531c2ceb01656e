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
    after request: HTTPRequest, status: Int, to target: URL
  ) -> Result<HTTPRequest, any Error> {
    guard target.isWebAddress else { return .failure(TransferError.unsupportedURL(target)) }
    count += 1
    guard count <= Self.limit else { return .failure(URLError(.httpTooManyRedirects)) }
    return .success(request.redirected(by: status, to: target))
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
  ///   - status: The status of the answer.
  ///   - target: The URL of its `Location`, resolved against ``url``.
  /// - Source: RFC 9110 §15.4.
  public func redirected(by status: Int, to target: URL) -> HTTPRequest {
    var next = self
    next.url = WebAddress(target).url
    next.isRedirected = true
    if status == 303 && method != .head || (status == 301 || status == 302) && method == .post {
      next.method = .get
      next.body = nil
      next.headers.removeAll { $0.lowercased().hasPrefix("content-") }
    }
    if !admitsCredentials(for: target) {
      next.hasLeftOrigin = true
      next.account = nil
      next.credentials = [:]
      next.headers.removeAll { CallerFields.authenticates($0) }
    }
    return next
  }
}
