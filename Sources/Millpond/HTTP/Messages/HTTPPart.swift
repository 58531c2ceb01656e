public import Foundation

/// A part of an answer.
public enum HTTPPart: Sendable {
  /// The head, which comes before the body.
  case head(HTTPHead)

  /// The next bytes of the body.
  case body(Data)
}

/// The head of an answer.
public struct HTTPHead: Sendable {
  /// The status code, such as 200.
  public let status: Int

  /// The header fields.
  public let headers: HeaderFields

  /// Whether a redirect led to another origin, which has not received the credentials of the
  /// request.
  public let isOfOtherOrigin: Bool

  /// Whether this is an interim head, which the final one follows.
  var isInterim: Bool { (100..<200).contains(status) }

  /// Creates a head.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - isOfOtherOrigin: Whether the transport followed a redirect to another origin. A 401 then
  ///     refuses no credentials.
  public init(status: Int, headers: HeaderFields = [:], isOfOtherOrigin: Bool = false) {
    self.status = status
    self.headers = headers
    self.isOfOtherOrigin = isOfOtherOrigin
  }
}
