/// The place where a server listens.
public enum RedisAddress: Sendable, Hashable, CustomStringConvertible {
  /// A host, by name or number, and a port.
  ///
  /// The connection is not encrypted: use it on the same machine or in a private network.
  case tcp(host: String, port: UInt16 = 6379)

  /// A host and a port to which the connection is encrypted, or not made at all.
  ///
  /// On Apple's platforms the system does that, and checks the server's certificate; elsewhere a
  /// ``RedisStream`` does.
  case tls(host: String, port: UInt16 = 6379)

  /// A socket in the file system of the same machine.
  case unix(path: String)

  /// The host and port, behind `rediss://` if the connection is encrypted, or the path.
  public var description: String {
    switch self {
    case .tcp(let host, let port): "\(host):\(port)"
    case .tls(let host, let port): "rediss://\(host):\(port)"
    case .unix(let path): path
    }
  }
}
