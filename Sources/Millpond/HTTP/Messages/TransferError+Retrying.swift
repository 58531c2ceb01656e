public import Foundation
public import MillpondCore
public import MillpondSignals

extension TransferError: RetryDelaying {
  /// The origin's `Retry-After`: seconds, or the time to a date by the origin's own clock.
  public var retryDelay: Duration? {
    if case .status(_, let headers, _) = self { headers.retryDelay } else { nil }
  }
}

extension HeaderFields {
  /// The pause for which `Retry-After` asks, less the age of an answer that was stored; nil without
  /// a valid one.
  var retryDelay: Duration? {
    guard let value = self["Retry-After"] else { return nil }
    let age = StoredAnswer.age(self) ?? 0
    if let delay = Duration(secondsIn: value) { return max(.zero, delay - .seconds(age)) }
    guard let date = HTTPDate(value) else { return nil }
    let now = self["Date"].flatMap { HTTPDate($0) }.map { $0.seconds + age }
    return .seconds(max(0, date.seconds - (now ?? Int(Date().timeIntervalSince1970))))
  }
}

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
  /// So it is with timeouts, interrupted bodies, connections that can't be made or are lost, the
  /// statuses 408, 425, 429, 500, 502, 503 and 504, and errors of other transports that are a loss
  /// of connectivity; a ``MillpondCore/CacheError`` answers for its underlying error. A circuit
  /// breaker that counts only these stays closed for a missing page:
  ///
  ///     let pages = HTTPSource().circuitBreaking(
  ///       afterFailures: 5, for: .seconds(30), counting: { $0.isTransient })
  public var isTransient: Bool {
    if let error = self as? URLError { return error.mayPass }
    switch self as? TransferError {
    case .truncated, .timedOut: return true
    case .status(let code, _, _): return [408, 425, 429, 500, 502, 503, 504].contains(code)
    case .unsupportedURL, .invalidRequest, .notRepeated, .tooLarge, .headTooLarge,
      .invalidResponse:
      return false
    case nil: return (self as? CacheError)?.underlying?.isTransient ?? isConnectivityError
    }
  }
}

extension URLError {
  fileprivate var mayPass: Bool {
    switch code {
    case .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost,
      .dnsLookupFailed, .notConnectedToInternet, .resourceUnavailable:
      true
    default: false
    }
  }
}

extension Duration {
  /// Parses a number of seconds; at most a hundred years.
  fileprivate init?(secondsIn text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let longest = 100 * 366 * 86_400
    self = .seconds(min(Int(text) ?? longest, longest))
  }
}

extension URLError: ConnectivityError {
  /// Whether the connection is missing, lost, refused or not allowed, the name can't be resolved,
  /// or the request timed out.
  public var isLossOfConnectivity: Bool {
    switch code {
    case .notConnectedToInternet, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost,
      .dnsLookupFailed, .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
      true
    default: false
    }
  }

  /// Whether the request was cancelled.
  public var isCancelled: Bool { code == .cancelled }
}
