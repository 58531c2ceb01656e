/// An error that can tell whether the origin was unreachable, and whether it was asked at all.
///
/// `URLError` and `TransferError` conform to it. Conform the errors of your own network layer too:
/// by default a ``FreshnessPolicy`` lets stale values replace such failures.
public protocol ConnectivityError: Error {
  /// Whether the origin could not be reached or did not answer in time: the connection is missing,
  /// lost or refused, the name can't be resolved, or the request timed out.
  var isLossOfConnectivity: Bool { get }

  /// Whether the work was cancelled, so that the error says nothing about the origin; false by
  /// default.
  var isCancelled: Bool { get }
}

extension ConnectivityError {
  /// False.
  public var isCancelled: Bool { false }
}

extension Error {
  /// Whether the error says that the origin could not be reached; false for errors that can't tell.
  public var isConnectivityError: Bool {
    (self as? any ConnectivityError)?.isLossOfConnectivity ?? false
  }

  /// Whether the error says that the work was cancelled: no circuit breaker counts it, and no get
  /// is answered with it again.
  var isCancellation: Bool {
    self is CancellationError || (self as? any ConnectivityError)?.isCancelled ?? false
  }
}

extension CacheError: ConnectivityError {
  /// Whether the circuit to the origin is open, or the underlying error is a loss of connectivity.
  public var isLossOfConnectivity: Bool {
    if case .circuitOpen = self { true } else { underlying?.isConnectivityError ?? false }
  }

  /// Whether the underlying error is a cancellation.
  public var isCancelled: Bool {
    underlying?.isCancellation ?? false
  }
}
