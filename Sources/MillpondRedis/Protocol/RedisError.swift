public import Foundation
import MillpondCore
import MillpondSignals
import MillpondSockets

/// A failure of a server, of the connection to it, or of a command.
///
/// Gets and writes of a ``RedisCache`` carry it inside `CacheError.unavailable(layer:underlying:)`.
public enum RedisError: Error, Sendable, Hashable {
  /// The name of the host has no address.
  case unknownHost(String)

  /// The path of the socket is too long for the system.
  case pathTooLong(String)

  /// A call of the system failed; carries its name and error number.
  case system(call: String, code: Int32)

  /// The server, or something in between, ended the connection.
  case connectionLost

  /// No answer came within the deadline.
  case timedOut

  /// The text is no URL of a server; carries it without name and password.
  case invalidURL(String)

  /// The address has to be encrypted, for which this system needs a ``RedisStream``; carries it.
  case noEncryption(address: String)

  /// The stream to the server could not be connected, or failed, such as because of a certificate.
  case streamFailed(message: String)

  /// The sentinels name no primary of a service, or another one than the server.
  case noPrimary(service: String, reason: String)

  /// The server refused the greeting, the credentials, the database or the tracking.
  ///
  /// A server older than version 6 refuses the greeting.
  case refused(message: String)

  /// The server answered a command with an error, such as `OOM`, `READONLY` or `LOADING`; a node of a
  /// cluster, whose address is not a ``RedisAddress/cluster(_:)``, with `MOVED` or `ASK`.
  case server(message: String)

  /// The server sent what no server of this protocol sends, or something larger than the limits.
  case malformedReply(String)

  /// The greatest number of commands already waits for an answer.
  case tooManyCommands(limit: Int)

  /// The greatest number of bytes already waits to be sent.
  case tooManyBytes(limit: Int)

  /// The connection failed because of `cause`, and the next attempt is made after `remaining`.
  indirect case notConnected(remaining: Duration, cause: RedisError)

  /// The ``Redis`` object has been closed.
  case closed

  init(_ error: SocketError) {
    self = .system(call: error.step, code: error.code)
  }

  /// The first word of a server's error, such as `OOM`, also of one because of which there is no
  /// connection, such as `NOAUTH`; nil for other errors.
  public var serverCode: String? {
    switch self {
    case .server(let message), .refused(let message):
      message.split(separator: " ").first.map { String($0) }
    case .notConnected(_, let cause): cause.serverCode
    default: nil
    }
  }
}

extension RedisError {
  fileprivate var isOfCluster: Bool {
    ["MOVED", "ASK"].contains(serverCode)
  }
}

extension RedisError: LocalizedError, CustomStringConvertible {
  /// A single line for logs.
  public var description: String {
    switch self {
    case .unknownHost(let host): "the host \(host) has no address"
    case .pathTooLong(let path): "the path of the socket is too long: \(path)"
    case .system(let call, let code): "\(call) failed: \(SocketCalls.message(for: code))"
    case .connectionLost: "the connection to the server was lost"
    case .timedOut: "the server did not answer within the deadline"
    case .invalidURL(let text): "this is no URL of a Redis server: \(text)"
    case .noEncryption(let address):
      "\(address) has to be encrypted, for which this system needs a stream with TLS; "
        + "the article 'Redis over TLS on Linux' has one"
    case .streamFailed(let message): "the stream to the server failed: \(message)"
    case .noPrimary(let service, let reason):
      "there is no connection to the primary of \(service): \(reason)"
    case .refused(let message): "the server refused the connection's settings: \(message)"
    case .server(let message):
      "the server answered: \(message)"
        + (isOfCluster
          ? " (it is a node of a cluster; RedisAddress.cluster leads to all of them)" : "")
    case .malformedReply(let what): "the server sent a malformed reply: \(what)"
    case .tooManyCommands(let limit): "\(limit) commands wait for an answer already"
    case .tooManyBytes(let limit): "\(limit) bytes wait to be sent already"
    case .notConnected(let remaining, let cause):
      "there is no connection to the server; the next attempt is made in \(remaining.brief): "
        + "\(cause)"
    case .closed: "the connections to the server have been closed"
    }
  }

  /// The description.
  public var errorDescription: String? { description }
}
