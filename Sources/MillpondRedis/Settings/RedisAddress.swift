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

  /// The primary of a service, which its sentinels know.
  ///
  /// They are asked before each connection, and at every heartbeat; when they name another primary,
  /// the client leaves the former one. It is spoken to as its sentinels are: encrypted, if their
  /// addresses are ``tls(host:port:)``.
  ///
  ///     let sentinels = ["a", "b", "c"].map { RedisAddress.tcp(host: $0, port: 26379) }
  ///     let redis = try Redis(.sentinels(sentinels, service: "mymaster"))
  ///
  /// - Parameters:
  ///   - addresses: The addresses of the sentinels, best of all of them.
  ///   - service: The name by which they know the primary.
  ///   - password: The password of the sentinels; nil for none. That of the servers is the client's.
  indirect case sentinels(_ addresses: [RedisAddress], service: String, password: String? = nil)

  /// A cluster, of which some servers are known.
  ///
  /// They are asked for the others when the client connects, and the cluster is asked again at every
  /// heartbeat, and whenever a connection is lost or a slot has moved. The client connects to every
  /// primary, with one connection each, and encrypted if these addresses are ``tls(host:port:)``.
  ///
  ///     let redis = try Redis(.cluster([.tcp(host: "10.0.0.1"), .tcp(host: "10.0.0.2")]))
  ///
  /// - Parameter servers: The addresses of some servers, primaries or replicas.
  indirect case cluster(_ servers: [RedisAddress])

  /// The host and port, behind `rediss://` if the connection is encrypted, or the path; of a service
  /// its name and its sentinels, and of a cluster the servers that are known.
  public var description: String {
    switch self {
    case .tcp(let host, let port): "\(host):\(port)"
    case .tls(let host, let port): "rediss://\(host):\(port)"
    case .unix(let path): path
    case .sentinels(let addresses, let service, _):
      "\(service) of " + addresses.map(\.description).joined(separator: ", ")
    case .cluster(let servers):
      "the cluster of " + servers.map(\.description).joined(separator: ", ")
    }
  }
}

extension RedisAddress {
  /// Whether a connection to it, or to what it leads to, has to be encrypted.
  var isEncrypted: Bool {
    switch self {
    case .tls: true
    case .tcp, .unix: false
    case .sentinels(let addresses, _, _), .cluster(let addresses):
      addresses.contains(where: \.isEncrypted)
    }
  }

  /// Whether it is a cluster.
  var isCluster: Bool {
    if case .cluster = self { true } else { false }
  }

  /// The service whose primary is meant; nil if it is the server itself.
  var service: String? {
    if case .sentinels(_, let service, _) = self { service } else { nil }
  }
}
