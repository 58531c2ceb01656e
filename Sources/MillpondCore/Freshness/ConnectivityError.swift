/// An error that can say whether it means that the origin could not be reached.
///
/// `URLError` and `TransferError` conform to it; let errors of your own network layer do so as well,
/// and what is remembered stands in for what can't be had, by default.
public protocol ConnectivityError: Error {
  /// Whether the origin could not be reached, or has not answered in time: there is no connection,
  /// it was lost or can't be made, the name can't be resolved, or time was up.
  var isLossOfConnectivity: Bool { get }
}

extension Error {
  /// Whether it means that the origin could not be reached, as far as it can say so.
  public var isConnectivityError: Bool {
    (self as? any ConnectivityError)?.isLossOfConnectivity ?? false
  }
}
