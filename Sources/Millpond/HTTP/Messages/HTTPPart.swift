public import Foundation
import MillpondCore

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
  public internal(set) var headers: HeaderFields

  /// Whether a redirect led to another origin, which has not received the credentials of the
  /// request.
  public let isOfOtherOrigin: Bool

  /// Whether the transport followed a redirect, so that this is the answer of another URL than the
  /// requested one.
  public let isRedirected: Bool

  /// The age of the answer and the rest of its freshness, if an ``HTTPCache`` knows them.
  var lifetime: ResponseLifetime?

  /// Returns a body with its validator, its age, and the rest of its freshness.
  func stamped<Body>(_ body: Body, _ validator: Validator?) -> Stamped<Body> {
    Stamped(
      body, age: lifetime?.age ?? .zero, validator: validator,
      timeToLive: (lifetime?.rest).map { .after($0) })
  }

  /// Whether this is an interim head, which the final one follows.
  var isInterim: Bool { (100..<200).contains(status) }

  /// Creates a head.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - isOfOtherOrigin: Whether the transport followed a redirect to another origin. A 401 then
  ///     refuses no credentials.
  ///   - isRedirected: Whether the transport followed any redirect. An ``HTTPCache`` does not store
  ///     such an answer for the requested URL.
  public init(
    status: Int, headers: HeaderFields = [:], isOfOtherOrigin: Bool = false,
    isRedirected: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.isOfOtherOrigin = isOfOtherOrigin
    self.isRedirected = isRedirected || isOfOtherOrigin
  }
}

/// The age of a response and the time for which it is still fresh, for the layers above a cache.
struct ResponseLifetime: Sendable, Equatable {
  let age: Duration
  let rest: Duration

  /// A new response that may not be stored.
  static let over = ResponseLifetime(age: .zero, rest: .zero)
}
