import Foundation
import MillpondCore
public import MillpondSignals

extension RetryPolicy {
  /// The same policy for transient failures only; others fail at once.
  ///
  /// Transient are the errors that say so (`isTransient`). Gets are safe to repeat; a request that
  /// is not, and was sent with ``HTTPSource/send(_:accepting:)``, is never sent twice by any
  /// policy. A `Retry-After` is observed unless it is longer than the policy's longest pause.
  ///
  ///     let patient = HTTPSource().retrying(
  ///       .backoff(attempts: 3, from: .milliseconds(200), upTo: .seconds(10)).onlyTransient)
  public var onlyTransient: RetryPolicy { only { $0.isTransient } }
}

extension Error {
  /// Whether the same request may succeed a little later.
  ///
  /// So it is with losses of connectivity (`isConnectivityError`: timeouts, interrupted bodies, and
  /// connections that can't be made or are lost) and the statuses 408, 425, 429, 500, 502, 503 and
  /// 504; a ``MillpondCore/CacheError`` answers for its underlying error. A circuit
  /// breaker that counts only these stays closed for a missing page:
  ///
  ///     let pages = HTTPSource().circuitBreaking(
  ///       afterFailures: 5, for: .seconds(30), counting: { $0.isTransient })
  public var isTransient: Bool {
    if case .status(let code, _, _) = self as? TransferError {
      return StatusMeaning.isTemporary(code)
    }
    if (self as? URLError)?.code == .resourceUnavailable { return true }
    return (self as? CacheError)?.underlying?.isTransient ?? isConnectivityError
  }
}
