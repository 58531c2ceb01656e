// The part of the Network framework that is used.
//
// Signatures: https://developer.apple.com/documentation/network/nwconnection and the pages of the
// types in its declaration.
@_exported import Foundation

public enum NWEndpoint: Hashable, Sendable {
  case hostPort(host: Host, port: Port)

  public struct Host: Hashable, Sendable {
    public init(_ string: String) {}
  }

  public struct Port: Hashable, Sendable, RawRepresentable {
    public static let any = Port(rawValue: 0)!
    public let rawValue: UInt16
    public init?(rawValue: UInt16) { self.rawValue = rawValue }
  }
}

public enum NWError: Error, Equatable, Sendable {
  case tls(Int32)
}

open class NWProtocolOptions {}

public enum NWProtocolTCP {
  public class Options: NWProtocolOptions {
    public var noDelay = false
    public override init() {}
  }
}

public enum NWProtocolTLS {
  public class Options: NWProtocolOptions {
    public override init() {}
  }
}

public class NWParameters: @unchecked Sendable {
  public init(tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options = NWProtocolTCP.Options()) {}
}

public final class NWConnection: Sendable {
  public enum State: Equatable, Sendable {
    case setup, preparing, ready, cancelled
    case waiting(NWError)
    case failed(NWError)
  }

  public class ContentContext: @unchecked Sendable {
    public static let defaultMessage = ContentContext()
  }

  public enum SendCompletion: Sendable {
    case contentProcessed(@Sendable (NWError?) -> Void)
    case idempotent
  }

  public init(to endpoint: NWEndpoint, using parameters: NWParameters) {}
  public var stateUpdateHandler: (@Sendable (State) -> Void)? {
    get { fatalError() }
    set { fatalError() }
  }
  public func start(queue: DispatchQueue) { fatalError() }
  public func cancel() { fatalError() }
  public func send(
    content: Data?, contentContext: ContentContext = .defaultMessage, isComplete: Bool = true,
    completion: SendCompletion
  ) { fatalError() }
  public func receive(
    minimumIncompleteLength: Int, maximumLength: Int,
    completion: @escaping @Sendable (Data?, ContentContext?, Bool, NWError?) -> Void
  ) { fatalError() }
}
