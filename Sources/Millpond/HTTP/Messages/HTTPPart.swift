public import Foundation

/// A piece of an answer.
public enum HTTPPart: Sendable {
  /// The head; before any of the body.
  case head(HTTPHead)

  /// The next bytes of the body.
  case body(Data)
}

/// What an answer begins with.
public struct HTTPHead: Sendable {
  /// The status code, such as 200.
  public let status: Int

  /// The header fields.
  public let headers: HeaderFields

  /// Whether a redirect led to another origin, which has not received the credentials of the request.
  public let isOfOtherOrigin: Bool

  /// Whether another head follows, which is that of the answer.
  var isInterim: Bool { (100..<200).contains(status) }

  /// Creates a head.
  ///
  /// - Parameter isOfOtherOrigin: Whether the transport has followed a redirect to another origin on the
  ///   way. A 401 then refuses no credentials.
  public init(status: Int, headers: HeaderFields = [:], isOfOtherOrigin: Bool = false) {
    self.status = status
    self.headers = headers
    self.isOfOtherOrigin = isOfOtherOrigin
  }
}
