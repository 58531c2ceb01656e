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
}
