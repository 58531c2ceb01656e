public import Foundation
public import MillpondCore

extension URLError: ConnectivityError {
  /// Whether there is no connection, it was lost or can't be made, the name can't be resolved, or time
  /// was up.
  public var isLossOfConnectivity: Bool {
    switch code {
    case .notConnectedToInternet, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost,
      .dnsLookupFailed, .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
      true
    default: false
    }
  }
}
