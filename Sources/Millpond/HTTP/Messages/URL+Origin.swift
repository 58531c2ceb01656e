import Foundation
import MillpondCore

extension URL {
  /// Whether this is an `http` or `https` URL with a host.
  var isWebAddress: Bool {
    ["http", "https"].contains(scheme?.lowercased()) && host()?.isEmpty == false
  }

  /// Whether both URLs have the same scheme, host and port.
  ///
  /// - Source: RFC 6454 §5.
  func isOfSameOrigin(as other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased()
      && host()?.lowercased() == other.host()?.lowercased()
      && statedOrUsualPort == other.statedOrUsualPort
  }

  private var statedOrUsualPort: Int { port ?? (scheme?.lowercased() == "https" ? 443 : 80) }
}

extension URL {
  /// The URL without user, password and fragment, and with only the names of its query, as errors
  /// name it.
  var textWithoutSecrets: String { String(withoutSecrets: absoluteString) }
}

/// A URL without its user and password, and these as credentials.
struct WebAddress {
  let url: URL

  /// The value of `Authorization`; nil without a user.
  ///
  /// - Source: RFC 7617 §2.
  let credentials: String?

  init(_ url: URL) {
    guard let user = url.user(percentEncoded: false),
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else {
      self.url = url
      credentials = nil
      return
    }
    let password = url.password(percentEncoded: false) ?? ""
    (parts.user, parts.password) = (nil, nil)
    self.url = parts.url ?? url
    credentials = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }
}
