import Foundation

extension URL {
  /// Whether this is something that HTTP can be spoken to.
  var isWebAddress: Bool {
    isWebScheme && host()?.isEmpty == false
  }

  /// Whether the scheme is one of HTTP's.
  var isWebScheme: Bool {
    guard let scheme = scheme?.lowercased() else { return false }
    return scheme == "http" || scheme == "https"
  }

  /// Whether both have the scheme, the host and the port in common.
  ///
  /// - Source: RFC 6454 §5.
  func isOfSameOrigin(as other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased()
      && host()?.lowercased() == other.host()?.lowercased()
      && statedOrUsualPort == other.statedOrUsualPort
  }

  private var statedOrUsualPort: Int {
    port ?? (scheme?.lowercased() == "https" ? 443 : 80)
  }
}
