public import Foundation
public import MillpondCore

/// What a transport is to ask for, by the method GET.
public struct HTTPRequest: Sendable {
  /// Where; an `http` or `https` URL with a host.
  public let url: URL

  /// Fields to send along with the transport's own.
  public internal(set) var headers: HeaderFields

  /// Fields that prove who asks.
  ///
  /// They are sent along as ``headers`` are, but to the scheme, host and port of ``url`` alone: not
  /// to where another origin is redirected to.
  public internal(set) var credentials: HeaderFields

  /// How urgent it is: ``HTTPSource`` fills in what its asker says.
  public internal(set) var priority: Priority

  /// By whom it was asked, who may become more urgent.
  private(set) var asker: Lookup?

  private let name: String?

  /// States what to ask for.
  ///
  /// - Parameter identity: What names the resource for as long as it exists, for a URL that does
  ///   not, as one that is signed for an hour; by default the URL.
  public init(
    url: URL, headers: HeaderFields = [:], credentials: HeaderFields = [:],
    identity: String? = nil, priority: Priority = .normal
  ) {
    self.url = url
    self.headers = headers
    self.credentials = credentials
    self.priority = priority
    name = identity
  }

  /// What names the resource: by this, bytes of a broken transfer are found again.
  public var identity: String {
    name ?? url.absoluteString
  }
}

extension HTTPRequest {
  /// The same request as its asker wants it.
  func asked(by lookup: Lookup) -> HTTPRequest {
    var request = self
    request.priority = lookup.priority
    request.asker = lookup
    // RFC 9111 §5.2.1.4: what no cache on the way may answer by itself.
    if lookup.freshness == .reload { request.headers.append("no-cache", for: "Cache-Control") }
    return request
  }

  func authorized(by credentials: HeaderFields) -> HTTPRequest {
    var request = self
    request.credentials.append(credentials)
    return request
  }
}
