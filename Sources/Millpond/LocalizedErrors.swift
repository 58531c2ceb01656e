public import Foundation
public import MillpondCore
public import MillpondSignals

extension SignalError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}

extension CacheError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}

extension ImageError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}

extension TransferError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}
