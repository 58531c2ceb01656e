import Foundation

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
  /// The URL without user, password and fragment, and with only the names of its query; at most 500
  /// characters.
  ///
  /// A part of the query without a name is left out, since it may be a secret as a whole.
  var textWithoutSecrets: String {
    let text = absoluteString.prefix { $0 != "#" }
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let names = parts.dropFirst().first?.split { $0 == "&" || $0 == ";" }
      .compactMap { item in item.contains("=") ? item.prefix { $0 != "=" } : nil }
    let query = (names ?? []).map { "\($0)=" }.joined(separator: "&")
    return String(
      (Self.withoutUser(parts.first ?? "") + (query.isEmpty ? "" : "?" + query)).prefix(500))
  }

  private static func withoutUser(_ address: Substring) -> String {
    guard let slashes = address.firstRange(of: "//") else { return String(address) }
    let authority = address[slashes.upperBound...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return String(address) }
    return String(address[..<slashes.upperBound] + address[address.index(after: at)...])
  }
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
