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

  /// The redirects that the transport followed, so that this is the answer of another URL than the
  /// requested one; nil for none.
  public let redirection: Redirection?

  /// The age of the answer and the rest of its freshness, if an ``HTTPCache`` knows them.
  var lifetime: ResponseLifetime?

  /// Returns a body with its validator, its age, and the rest of its freshness.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - earlier: The resume point, if the rest was requested.
  func stamped<Body>(_ body: Body, resuming earlier: ResumePoint?) -> Stamped<Body> {
    // The head of a continuation may lack fields of the first head.
    Stamped(
      body, age: lifetime?.age ?? .zero,
      validator: continued(earlier)?.version.validator ?? Validator(headers),
      timeToLive: (lifetime?.rest).map { .after($0) })
  }

  /// Whether this is an interim head, which the final one follows.
  var isInterim: Bool { (100..<200).contains(status) }

  /// Creates a head.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - redirection: The redirects that the transport followed, as
  ///     ``HTTPRequest/redirection`` of the last request has them. An ``HTTPCache`` does not store
  ///     such an answer for the requested URL.
  public init(status: Int, headers: HeaderFields = [:], redirection: Redirection? = nil) {
    self.status = status
    self.headers = headers
    self.redirection = redirection
  }

  var isRedirected: Bool { redirection != nil }
}

/// The age of a response and the time for which it is still fresh, for the layers above a cache.
struct ResponseLifetime: Sendable, Equatable {
  let age: Duration
  let rest: Duration

  /// A new response that may not be stored.
  static let over = ResponseLifetime(age: .zero, rest: .zero)

  /// Returns the same lifetime, which ends with `limit` at the latest.
  func limited(to limit: Duration?) -> ResponseLifetime {
    ResponseLifetime(age: age, rest: limit.map { min($0, rest) } ?? rest)
  }
}
