import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPRequest {
  /// Returns the request that follows a redirect of this one, without its credentials once another
  /// origin has been involved.
  ///
  /// - Parameters:
  ///   - next: The request that the session proposes.
  ///   - target: The target of the redirect.
  ///   - hasLeftOrigin: Whether this redirect or an earlier one led to another origin. Also on the
  ///     way back no credentials are sent, since the other origin has chosen the target.
  func redirected(_ next: URLRequest, to target: URL, hasLeftOrigin: Bool) -> URLRequest {
    var next = next
    next.url = target
    if hasLeftOrigin {
      for name in secretFields { next.setValue(nil, forHTTPHeaderField: name) }
    }
    return next
  }

  /// The names of fields that no other origin may receive.
  private var secretFields: [String] {
    credentials.fields.map(\.name) + ["Authorization", "Proxy-Authorization", "Cookie"]
  }
}

extension HTTPURLResponse {
  /// The target of this redirect.
  ///
  /// Linux: a session resolves every relative address against the root, and uses only the path of
  /// an address that is not for HTTP, at the old host.
  var redirectTarget: URL? {
    value(forHTTPHeaderField: "Location").flatMap { URL(string: $0, relativeTo: url)?.absoluteURL }
  }
}
