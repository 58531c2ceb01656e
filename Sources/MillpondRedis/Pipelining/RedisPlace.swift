import MillpondSockets

/// The other end of a connection: the address of a socket, or a stream of the user's.
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

/// A server, and what a connection to it can be made to, in the order in which that is tried.
struct ServerPlaces: Sendable {
  let server: RedisAddress
  let places: [RedisPlace]
}

extension RedisSettings {
  /// Whether the places are known without a call that blocks.
  var isPlaceKnown: Bool {
    switch address {
    case .unix: true
    case .tcp, .tls: stream != nil
    case .sentinels, .cluster: false
    }
  }

  /// Finds the places of the server; may block, unless they are known.
  func places() throws(RedisError) -> ServerPlaces {
    switch address {
    case .unix(let path):
      guard let address = SocketAddress.unix(path: path) else { throw .pathTooLong(path) }
      return ServerPlaces(server: self.address, places: [.socket(address)])
    case .tcp(let host, let port), .tls(let host, let port):
      if let stream {
        return ServerPlaces(
          server: address, places: [.stream(host: host, port: port, stream)])
      }
      let addresses = SocketAddress.addresses(of: host, port: port)
      if addresses.isEmpty { throw .unknownHost(host) }
      return ServerPlaces(server: address, places: addresses.map { .socket($0) })
    case .sentinels(let addresses, let service, let password):
      var inquiry = ServerInquiry(
        .primary(of: service, password: password), addresses, self)
      var settings = self
      settings.address = try inquiry.answer()
      return try settings.places()
    case .cluster:
      // Its servers have places once they have been asked for their slots.
      throw .noPrimary(service: "\(address)", reason: "it stands in place of a server")
    }
  }
}
