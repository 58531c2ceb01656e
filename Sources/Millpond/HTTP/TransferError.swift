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

  /// The head has more than `limit` bytes.
  case headTooLarge(limit: Int)

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

extension TransferError: CustomStringConvertible {
  /// One line, for logs.
  public var description: String {
    switch self {
    case .unsupportedURL(let url): "HTTP can't be spoken to \(url)"
    case .status(let code, _): "the origin answered with status \(code)"
    case .tooLarge(let limit): "the body has more than \(limit) bytes"
    case .headTooLarge(let limit): "the head has more than \(limit) bytes"
    case .truncated(let received, let expected?):
      "the body ended after \(received) of \(expected) bytes"
    case .truncated(let received, nil): "the body ended too early, after \(received) bytes"
    case .invalidResponse(let reason): "the answer is not valid: \(reason)"
    case .timedOut(.idle): "the origin was silent for too long"
    case .timedOut(.total): "the transfer took too long"
    }
  }
}
