import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPURLResponse {
  /// The target of this redirect.
  ///
  /// Linux: a session resolves every relative address against the root, and uses only the path of
  /// an address that is not for HTTP, at the old host.
  var redirectTarget: URL? {
    value(forHTTPHeaderField: "Location").flatMap { URL(string: $0, relativeTo: url)?.absoluteURL }
  }
}
