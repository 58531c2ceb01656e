public import Foundation

/// What the framework itself finds wrong with a transfer.
///
/// What a transport fails with (no connection, no such host, a bad certificate, 20 redirects)
/// arrives as it was thrown: a `URLError` from ``URLSessionTransport``.
public enum TransferError: Error, Sendable {
  /// The URL, or one that it redirects to, is none that HTTP can be spoken to.
  ///
  /// Asking again is no use.
  case unsupportedURL(URL)

  /// The origin answered, but not with the whole value.
  ///
  /// `headers` is for `Retry-After` and the like. 206 and 304 are errors, since neither was asked
  /// for.
  case status(code: Int, headers: HeaderFields)

  /// The body has more than `limit` bytes.
  case tooLarge(limit: Int)

  /// The body ended before its time; `expected` is nil where the length is unknown, but not zero.
  case truncated(received: Int, expected: Int?)

  /// The answer contradicts itself, or the rules.
  case invalidResponse(reason: String)

  /// The origin was silent for too long, or took too long in all.
  case timedOut(Timeout)

  /// Which patience came to its end.
  public enum Timeout: Sendable, Hashable {
    /// Nothing arrived for ``HTTPLimits/idleTimeout``.
    case idle

    /// The end had not come after ``HTTPLimits/totalTimeout``.
    case total
  }
}
