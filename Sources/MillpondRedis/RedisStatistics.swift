import MillpondCore
public import MillpondSignals

/// The state of a client's connections, and what they have carried so far.
///
///     print(redis.statistics)  // redis 7.0.15 at 10.0.0.1:6379, ready, tracking; 2 reconnects, …
///     redis.changes.subscribe { event in … }
public struct RedisStatistics: Sendable, Hashable {
  /// The states of a connection.
  public enum State: Sendable, Hashable {
    /// Nothing has needed it yet.
    case idle

    /// It is being made, or the server has not answered the greeting.
    case connecting

    /// Commands are sent.
    case ready

    /// The last attempt failed, and the next one is made after a pause.
    case pausing

    /// The client has been closed.
    case closed
  }

  /// A connection of the client.
  public struct Connection: Sendable, Hashable {
    /// The state of the connection.
    public internal(set) var state: State

    /// The address of the server, or of the last one; nil before it has been looked up.
    public internal(set) var address: RedisAddress?

    /// The name and the version of the server, such as `redis 7.0.15`; nil before the first greeting.
    public internal(set) var server: String?

    /// The reason why it is not ready; nil if it is, or has not been needed.
    public internal(set) var failure: RedisError?
  }

  /// The connections, in the order of their numbers.
  public internal(set) var connections: [Connection] = []

  /// Whether the server reports the changes of other processes on all of them.
  public internal(set) var isTracking = false

  /// The number of connections that were made after the loss of another one.
  public internal(set) var reconnects = 0

  /// The number of commands that the server has answered, without the client's own.
  public internal(set) var answers = 0

  /// The number of those that the server answered with an error, such as `NOPERM` or `OOM`.
  public internal(set) var refusals = 0

  /// The time from the submission of those commands to their answers, in all.
  public internal(set) var waitingTime = Duration.zero

  /// The bytes that were handed to the system or a stream.
  public internal(set) var bytesSent = 0

  /// The bytes that have arrived.
  public internal(set) var bytesReceived = 0
}

extension RedisStatistics: CustomStringConvertible {
  /// A single line for logs.
  public var description: String {
    let states = connections.map { connection in
      let server = connection.server.map { "\($0) " } ?? ""
      let place = connection.address.map { "at \($0), " } ?? ""
      return "\(server)\(place)\(connection.state)" + (connection.failure.map { " (\($0))" } ?? "")
    }
    return states.joined(separator: "; ") + (isTracking ? ", tracking" : ", not tracking")
      + "; \(reconnects) reconnects, \(answers) answers, \(refusals) refusals, "
      + "\(waitingTime.brief) waited, \(bytesSent) bytes sent, \(bytesReceived) received"
  }
}

extension Redis {
  /// The state of the connections and what they have carried, now.
  public var statistics: RedisStatistics { loop.statistics }

  /// Sends the statistics whenever the state of a connection, or of tracking, has changed; completes
  /// when the client is closed.
  ///
  /// Changes that follow each other at once may be sent as one. Observers are called by the client's
  /// thread, which they must not block.
  public var changes: Signal<RedisStatistics> { loop.changes.signal }
}

extension Redis {
  /// The statistics for an inspector and for Prometheus.
  var report: ServerReport {
    let now = statistics
    return ServerReport(
      of: self, at: address, "\(now)",
      [
        .init(
          "millpond_redis_connections", "Connections of the client.", isCounter: false,
          Double(now.connections.count)),
        .init(
          "millpond_redis_ready", "Those that are ready.", isCounter: false,
          Double(now.connections.count { $0.state == .ready })),
        .init(
          "millpond_redis_tracking", "Whether the server reports changes.", isCounter: false,
          now.isTracking ? 1 : 0),
        .init(
          "millpond_redis_reconnects_total", "Connections made after a loss.",
          Double(now.reconnects)),
        .init("millpond_redis_answers_total", "Commands that were answered.", Double(now.answers)),
        .init(
          "millpond_redis_refusals_total", "Those answered with an error.", Double(now.refusals)),
        .init(
          "millpond_redis_waiting_seconds_total", "Time that they took, in all.",
          now.waitingTime / .seconds(1)),
        .init("millpond_redis_sent_bytes_total", "Bytes sent.", Double(now.bytesSent)),
        .init("millpond_redis_received_bytes_total", "Bytes received.", Double(now.bytesReceived)),
      ])
  }
}
