public import Foundation
public import MillpondCore

/// What a transport is to ask for, by the method GET.
public struct HTTPRequest: Sendable {
  /// Where; an `http` or `https` URL with a host.
  public let url: URL

  /// Fields to send along with the transport's own.
  public let headers: HeaderFields

  /// How urgent it is.
  public let priority: Priority

  /// States what to ask for.
  public init(url: URL, headers: HeaderFields = [:], priority: Priority = .normal) {
    self.url = url
    self.headers = headers
    self.priority = priority
  }
}
