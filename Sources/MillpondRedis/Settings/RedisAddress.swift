/// The place where a server listens.
public enum RedisAddress: Sendable, Hashable, CustomStringConvertible {
  /// A host, by name or number, and a port.
  ///
  /// The connection is not encrypted: use it on the same machine or in a private network, or
  /// through a local proxy that encrypts.
  case tcp(host: String, port: UInt16 = 6379)

  /// A socket in the file system of the same machine.
  case unix(path: String)

  /// The host and port, or the path.
  public var description: String {
    switch self {
    case .tcp(let host, let port): "\(host):\(port)"
    case .unix(let path): path
    }
  }
}
