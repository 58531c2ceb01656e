#if canImport(Network)
  public import Foundation
  import MillpondSignals
  public import Network

  /// A stream by the system's network framework and its TLS, which a client uses for
  /// ``RedisAddress/tls(host:port:)`` unless it is given another one.
  ///
  ///     let redis = try Redis(.tls(host: "cache.internal")) { host, port in
  ///       NetworkStream(to: host, port, parameters: trustingOurAuthority)
  ///     }
  public final class NetworkStream: RedisStream {
    private let connection: NWConnection

    /// The queue of the connection's calls.
    private let queue = DispatchQueue(label: "millpond.redis.network")

    private let receiver = Locked<@Sendable (RedisStreamEvent) -> Void>({ _ in })

    /// The most bytes of one event.
    private static let pieceSize = 64 << 10

    /// Creates a stream, which connects when the client says so.
    ///
    /// - Parameters:
    ///   - host: The name or number of the host, which its certificate has to have.
    ///   - port: The port.
    ///   - parameters: The parameters of the connection, such as an authority to trust and a
    ///     certificate to show; nil for TLS with the system's authorities.
    public init(to host: String, _ port: UInt16, parameters: NWParameters? = nil) {
      let place = NWEndpoint.hostPort(
        host: NWEndpoint.Host(host), port: NWEndpoint.Port(rawValue: port) ?? .any)
      connection = NWConnection(to: place, using: parameters ?? Self.encrypted)
    }

    private static var encrypted: NWParameters {
      let tcp = NWProtocolTCP.Options()
      tcp.noDelay = true
      return NWParameters(tls: NWProtocolTLS.Options(), tcp: tcp)
    }

    /// Connects, once; a network that is not there counts as a failure, and the client tries again.
    public func connect(_ receive: @escaping @Sendable (RedisStreamEvent) -> Void) {
      receiver.withLock { $0 = receive }
      connection.stateUpdateHandler = { state in
        switch state {
        case .ready: receive(.connected)
        case .waiting(let error), .failed(let error): receive(.ended(error))
        case .cancelled: receive(.ended(nil))
        default: break
        }
      }
      connection.start(queue: queue)
    }

    /// Asks for bytes.
    public func read() {
      let receive = receiver.withLock { $0 }
      connection.receive(minimumIncompleteLength: 1, maximumLength: Self.pieceSize) {
        bytes, _, isComplete, error in
        if let bytes, !bytes.isEmpty { receive(.received(bytes)) }
        if isComplete || error != nil { receive(.ended(error)) }
      }
    }

    /// Sends bytes.
    public func write(_ bytes: Data) {
      let receive = receiver.withLock { $0 }
      connection.send(
        content: bytes,
        completion: .contentProcessed { error in
          receive(error.map { .ended($0) } ?? .written)
        })
    }

    /// Ends the connection.
    public func close() { connection.cancel() }
  }

  extension RedisSettings {
    /// Makes a stream to a host and port, where the system has TLS.
    static let systemStream: RedisStreamMaker? = { NetworkStream(to: $0, $1) }
  }
#else
  extension RedisSettings {
    /// Makes a stream to a host and port, where the system has TLS.
    static let systemStream: RedisStreamMaker? = nil
  }
#endif
