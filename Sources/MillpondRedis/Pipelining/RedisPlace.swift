import MillpondSockets

/// What a connection is made to.
enum RedisPlace: Sendable {
  case socket(SocketAddress)
  case stream(host: String, port: UInt16, RedisStreamMaker)

  /// Begins to connect.
  func link(_ wake: WakePipe) throws(RedisError) -> any RedisLink {
    switch self {
    case .socket(let address): try RedisSocket(connectingTo: address)
    case .stream(let host, let port, let make): StreamLink(connecting: make(host, port), wake)
    }
  }
}

extension RedisSettings {
  /// Whether the places are known without a call that blocks.
  var isPlaceKnown: Bool {
    switch address {
    case .unix: true
    case .tcp, .tls: stream != nil
    }
  }

  /// Finds the places of the server, in the order in which they are tried; may block, unless they
  /// are known.
  func places() throws(RedisError) -> [RedisPlace] {
    switch address {
    case .unix(let path):
      guard let address = SocketAddress.unix(path: path) else { throw .pathTooLong(path) }
      return [.socket(address)]
    case .tcp(let host, let port), .tls(let host, let port):
      if let stream { return [.stream(host: host, port: port, stream)] }
      let addresses = SocketAddress.addresses(of: host, port: port)
      if addresses.isEmpty { throw .unknownHost(host) }
      return addresses.map { .socket($0) }
    }
  }
}
