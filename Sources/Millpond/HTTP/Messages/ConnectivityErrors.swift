public import Foundation
public import MillpondCore

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

extension TransferError: ConnectivityError {
  /// Whether the transfer timed out, or the body ended early.
  public var isLossOfConnectivity: Bool {
    switch self {
    case .timedOut, .truncated: true
    case .unsupportedURL, .invalidRequest, .notRepeated, .status, .tooLarge, .headTooLarge,
      .invalidResponse:
      false
    }
  }
}

extension Error {
  /// Whether the origin can't have received the request.
  var saysNothingWasSent: Bool {
    guard let error = self as? URLError else { return false }
    return switch error.code {
    case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet: true
    default: false
    }
  }
}
