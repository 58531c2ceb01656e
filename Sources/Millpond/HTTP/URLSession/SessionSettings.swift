import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The configuration of a transport's sessions, as far as it is the user's, and the user's hooks.
struct SessionSettings: Sendable {
  typealias ChallengeAnswer = (URLSession.AuthChallengeDisposition, URLCredential?)

  let onMetrics: (@Sendable (TransferMetrics) -> Void)?
  let onChallenge: (@Sendable (URLAuthenticationChallenge) async -> ChallengeAnswer)?
  private let base: URLSessionConfiguration

  init(
    _ configuration: URLSessionConfiguration,
    onMetrics: (@Sendable (TransferMetrics) -> Void)? = nil,
    onChallenge: (@Sendable (URLAuthenticationChallenge) async -> ChallengeAnswer)? = nil
  ) {
    base = configuration.copied
    self.onMetrics = onMetrics
    self.onChallenge = onChallenge
  }

  var connectionsPerHost: Int { max(1, base.httpMaximumConnectionsPerHost) }

  /// The reason why no request can be sent.
  var problem: TransferError? {
    if base.identifier == nil { return nil }
    return .invalidRequest(
      reason: "a URLSessionConfiguration for the background carries only files, "
        + "so URLSessionTransport needs another one")
  }

  /// Longer than all limits of ours: on Linux the timeout of a request is ignored, and one that
  /// fires during the decision on a redirect leaves the task without an end.
  static let aWeek: TimeInterval = 7 * 24 * 60 * 60

  /// Returns a configuration for a session.
  func configuration(connectionsPerHost: Int) -> URLSessionConfiguration {
    // A second session for the background would take the events of the user's.
    let configuration = problem == nil ? base.copied : .ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCredentialStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpAdditionalHeaders = nil
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    configuration.timeoutIntervalForRequest = Self.aWeek
    configuration.timeoutIntervalForResource = Self.aWeek
    return configuration
  }

  /// Returns the fields that the transport adds to a request; nil if the configuration has none.
  var addedFields: (@Sendable (HTTPRequest) -> HeaderFields)? {
    let cookies = base.httpShouldSetCookies ? base.httpCookieStorage : nil
    let headers = (base.httpAdditionalHeaders ?? [:])
      .map { (name: "\($0.key)", value: "\($0.value)") }
      .sorted { $0.name < $1.name }
    if cookies == nil, headers.isEmpty { return nil }
    return { request in
      let present = request.fields
      let hasLeft = request.redirection?.leftOrigin == true
      var added = HeaderFields(
        headers.filter { name, _ in
          present[name] == nil && !(hasLeft && CallerFields.authenticates(name))
        })
      if present["Cookie"] == nil, let cookie = cookies?.field(for: request.url) {
        added.set(cookie, for: "Cookie")
      }
      return added
    }
  }
}

extension HTTPCookieStorage {
  /// The value of the field with the cookies for a URL; nil if there are none.
  fileprivate func field(for url: URL) -> String? {
    // Linux: those for other paths too (swift-corelibs-foundation 6.3.1).
    let path = url.path(percentEncoded: true)
    let cookies = (cookies(for: url) ?? []).filter { $0.isFor(path.isEmpty ? "/" : path) }
    return cookies.isEmpty ? nil : HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
  }
}

extension HTTPCookie {
  /// Whether the cookie is for a path.
  ///
  /// - Source: RFC 6265 §5.1.4.
  fileprivate func isFor(_ other: String) -> Bool {
    other == path || other.hasPrefix(path.hasSuffix("/") ? path : path + "/")
  }
}

extension URLSessionConfiguration {
  static func withoutCookies(connectionsPerHost: Int) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    return configuration
  }

  fileprivate var copied: URLSessionConfiguration { copy() as? URLSessionConfiguration ?? self }
}
