/// A request as a server received it.
public struct Request: Sendable {
  /// The method, such as "GET".
  public let method: String
  /// The path with its query, as sent, not decoded.
  public let path: String
  /// The header fields.
  public let headers: Headers
  /// The body; empty without a Content-Length.
  public package(set) var body: [UInt8]

  /// Whether the client keeps the connection: HTTP/1.1 without "Connection: close".
  package let keepsAlive: Bool
}
