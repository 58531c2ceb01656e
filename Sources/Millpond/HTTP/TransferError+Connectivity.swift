import Foundation
public import MillpondCore

extension TransferError: ConnectivityError {
  /// Whether time was up, or the body broke off.
  public var isLossOfConnectivity: Bool {
    switch self {
    case .timedOut, .truncated: true
    case .unsupportedURL, .status, .tooLarge, .headTooLarge, .invalidResponse: false
    }
  }
}
