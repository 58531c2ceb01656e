/// The observations of the origin up to one moment.
public struct ServerSnapshot: Sendable {
  /// All requests with their outcomes, in order of arrival.
  public let exchanges: [Exchange]
  /// The number of open connections, including idle ones.
  public let openConnections: Int

  /// Returns the number of requests for a path, including its query.
  public func requestCount(path: String) -> Int {
    exchanges.count { $0.request.path == path }
  }
}
