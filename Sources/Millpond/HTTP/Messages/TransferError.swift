public import Foundation
import MillpondCore

/// A failure of a transfer that the framework itself has found.
///
/// The transport's own errors (no connection, no such host, a bad certificate, 20 redirects) arrive
/// unchanged: a `URLError` from ``URLSessionTransport``.
///
/// The URL of a failure is the requested one without user, password, fragment and the values of its
/// query, which may be secrets; nil if there was no request yet.
public enum TransferError: Error, Sendable {
  /// The URL, or a redirect's target, is not an HTTP URL.
  ///
  /// Another attempt fails in the same way.
  case unsupportedURL(URL)

  /// The request can't be sent, because it is not well-formed, because its body is not as stated,
  /// or because a get must be safe; `reason` says why.
  ///
  /// Nothing, or not the whole request, was sent. Another attempt fails in the same way.
  case invalidRequest(reason: String, url: URL? = nil)

  /// The request was not sent again, because it may have had its effect, and two may have it twice.
  ///
  /// `underlying` is the failure of the first attempt; nil if that was not a failure. See
  /// ``HTTPRequest/assumedIdempotent()``.
  case notRepeated(method: HTTPMethod, underlying: (any Error)?, url: URL? = nil)

  /// The origin answered, but not with the whole value.
  ///
  /// `headers` contains `Retry-After` and the like. 206 and 304 are errors of a get, since neither
  /// was requested.
  case status(code: Int, headers: HeaderFields, url: URL? = nil)

  /// The body has more than `limit` bytes: more than ``HTTPLimits/byteLimit``, or
  /// ``HTTPLimits/streamByteLimit`` if it is passed on in pieces, or, for the file of a
  /// ``MediaCache``, more than its disk cache can hold.
  case tooLarge(limit: Int, url: URL? = nil)

  /// The head has more than `limit` bytes: more than ``HTTPLimits/headerByteLimit``.
  case headTooLarge(limit: Int, url: URL? = nil)

  /// The body ended early; `expected` is nil if the length is unknown, but not zero.
  case truncated(received: Int, expected: Int?, url: URL? = nil)

  /// The answer contradicts itself or the rules of HTTP.
  case invalidResponse(reason: String, url: URL? = nil)

  /// The origin was silent for too long, or the transfer took too long in all.
  case timedOut(Timeout, url: URL? = nil)

  /// The time limit that was reached.
  public enum Timeout: Sendable, Hashable {
    /// Nothing arrived for ``HTTPLimits/idleTimeout``.
    case idle

    /// The transfer did not end within ``HTTPLimits/totalTimeout``, or
    /// ``HTTPLimits/streamTimeout`` if it is passed on in pieces.
    case total
  }
}

extension TransferError: CustomStringConvertible {
  /// A single line for logs: the failure, the limit that was reached and its name, and the URL
  /// without secrets.
  public var description: String {
    switch self {
    case .unsupportedURL(let url): "not an HTTP URL: \(url.textWithoutSecrets)"
    case .invalidRequest(let reason, let url): "the request is not valid: \(reason)" + url.inWords
    case .notRepeated(let method, let underlying, let url):
      "the \(method) was not sent again, since it may have had its effect" + url.inWords
        + (underlying.map { "; before that: \($0)" } ?? "")
    case .status(let code, let headers, let url):
      "the origin answered with status \(code)"
        + (StoredAnswer.age(headers).map { ", which was stored \($0) seconds ago" } ?? "")
        + url.inWords
    case .tooLarge(let limit, let url):
      "the body has more than \(limit) bytes (raise byteLimit or streamByteLimit of HTTPLimits, or, "
        + "for a file, byteLimit of its DiskCache)"
        + url.inWords
    case .headTooLarge(let limit, let url):
      "the head has more than \(limit) bytes (raise headerByteLimit of HTTPLimits)" + url.inWords
    case .truncated(let received, let expected?, let url):
      "the body ended early, after \(received) of \(expected) bytes" + url.inWords
    case .truncated(let received, nil, let url):
      "the body ended early, after \(received) bytes" + url.inWords
    case .invalidResponse(let reason, let url): "the response is not valid: \(reason)" + url.inWords
    case .timedOut(.idle, let url):
      "the origin was silent for too long (raise idleTimeout of HTTPLimits)" + url.inWords
    case .timedOut(.total, let url):
      "the transfer took too long (raise totalTimeout or streamTimeout of HTTPLimits)" + url.inWords
    }
  }
}

extension TransferError {
  /// Whether this is a stored answer of an ``HTTPCache``, for example a 404 with `max-age`: for as
  /// long as the origin says, it is not asked again.
  ///
  /// The `Age` among the headers says how old the answer is, in seconds.
  public var isFromCache: Bool {
    if case .status(_, let headers, _) = self { StoredAnswer.age(headers) != nil } else { false }
  }

  /// Returns the same failure with the URL of its request, without secrets.
  func naming(_ url: URL) -> TransferError {
    let url = URL(string: url.textWithoutSecrets)
    return switch self {
    case .unsupportedURL(let other):
      .unsupportedURL(URL(string: other.textWithoutSecrets) ?? other)
    case .invalidRequest(let reason, _): .invalidRequest(reason: reason, url: url)
    case .notRepeated(let method, let underlying, _):
      .notRepeated(method: method, underlying: underlying, url: url)
    case .status(let code, let headers, _): .status(code: code, headers: headers, url: url)
    case .tooLarge(let limit, _): .tooLarge(limit: limit, url: url)
    case .headTooLarge(let limit, _): .headTooLarge(limit: limit, url: url)
    case .truncated(let received, let expected, _):
      .truncated(received: received, expected: expected, url: url)
    case .invalidResponse(let reason, _): .invalidResponse(reason: reason, url: url)
    case .timedOut(let timeout, _): .timedOut(timeout, url: url)
    }
  }
}

extension URL? {
  fileprivate var inWords: String { map { ": \($0.textWithoutSecrets)" } ?? "" }
}
