/// What the origin has seen up to one moment.
public struct Snapshot: Sendable {
  /// Every request and what became of it, in the order of arrival.
  public let exchanges: [Exchange]
  /// Connections that are open now, idle ones included.
  public let openConnections: Int

  /// How many requests there were for a path, query included.
  public func requestCount(path: String) -> Int {
    exchanges.count { $0.request.path == path }
  }
}
