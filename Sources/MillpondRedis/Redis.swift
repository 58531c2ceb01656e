import MillpondCore
public import MillpondSignals

/// A client of a Redis server from version 6 on, of a Valkey server, or of a cluster of either.
///
///     let redis = try Redis(.tcp(host: "127.0.0.1"))
///     let shared = RedisCache(redis, prefix: "feed/", timeToLive: .after(.seconds(600)))
///
/// The client connects when it is first used, and again whenever a connection is lost: at once, and
/// then after pauses that grow to two seconds and differ at random. During such a pause commands
/// fail at once with `CacheError.circuitOpen(layer:remaining:underlying:)`. Without an answer within
/// `deadline` a command fails, and if the server was silent all the time, so does its connection. (In
/// a cluster each server that a command is sent on to has this time.)
/// A command that only reads, and whose answer a lost connection has cost, is sent once more;
/// others fail, since they may have been carried out.
///
/// Commands are sent without waiting for the answers of earlier ones, by a thread of the client
/// that also delivers the answers. Code that receives a value must not block that thread: `value`
/// and `receive(on:limit:)` leave it at once.
///
/// To an address with ``RedisAddress/tls(host:port:)`` the connection is encrypted: on Apple's
/// platforms by the system, elsewhere by a ``RedisStream`` of yours.
///
/// - Note: Any thread; none is blocked. Releasing the last reference to the client and its caches
///   ends its thread, when all commands are answered.
public final class Redis: Sendable {
  let loop: RedisLoop

  /// The text of the address.
  let address: String

  /// The name of its caches in errors, with the address of the server.
  var layerName: String { "RedisCache at \(address)" }

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - address: The place where the server listens.
  ///   - username: The name of a user of the server; nil for the default user.
  ///   - password: The password; nil for none, as suits a user that needs none.
  ///   - database: The number of the database.
  ///   - connections: The number of connections, at least one. Each key has one of them, so more
  ///     help with large values only. A cluster has one for each primary.
  ///   - deadline: The time limit of a command, of a connection attempt and of a sign of life; at
  ///     least a millisecond.
  ///   - heartbeat: The time of silence after which a sign of life is asked for. If the network
  ///     fails silently, memory that follows the server is out of date for at most this time plus
  ///     the deadline.
  ///   - tracking: The way in which the server tells about changes of other processes.
  ///   - stream: Makes the stream of a connection to a host and port, in place of the client's own
  ///     TCP or the system's TLS; nil for those. A Unix socket needs none.
  /// - Throws: ``RedisError/noEncryption(address:)`` if the address has to be encrypted, and neither
  ///   the system nor a stream does that; ``RedisError/system(call:code:)`` if the process has no
  ///   descriptors left.
  public convenience init(
    _ address: RedisAddress, username: String? = nil, password: String? = nil, database: Int = 0,
    connections: Int = 1, deadline: Duration = .seconds(1), heartbeat: Duration = .seconds(2),
    tracking: RedisTracking = .byPrefix,
    stream: (@Sendable (_ host: String, _ port: UInt16) -> any RedisStream)? = nil
  ) throws(RedisError) {
    let limits = ConnectionLimits(
      deadline: ConnectionLimits.time(deadline), heartbeat: ConnectionLimits.time(heartbeat))
    try self.init(
      RedisSettings(
        address: address, username: username, password: password, database: database,
        connections: max(1, connections), tracking: tracking, limits: limits, stream: stream))
  }

  /// Creates a client for a URL, as settings of programs have it, with the user and the database.
  ///
  ///     let redis = try Redis(url: "rediss://cache:secret@cache.example.com:6380/2")
  ///
  /// - Parameters:
  ///   - url: `redis://user:password@host:port/database`, `rediss://…` for an encrypted connection,
  ///     or `unix:///path?db=number`; everything but scheme and host or path may be left out. What
  ///     can't stand in a URL is encoded by percent signs.
  ///   - connections: The number of connections.
  ///   - deadline: The time limit of a command.
  ///   - heartbeat: The time of silence after which a sign of life is asked for.
  ///   - tracking: The way in which the server tells about changes of other processes.
  ///   - stream: Makes the stream of a connection to a host and port; nil for the built-in ones.
  /// - Throws: ``RedisError/invalidURL(_:)``, and what the other initializer throws.
  public convenience init(
    url: String, connections: Int = 1, deadline: Duration = .seconds(1),
    heartbeat: Duration = .seconds(2), tracking: RedisTracking = .byPrefix,
    stream: (@Sendable (_ host: String, _ port: UInt16) -> any RedisStream)? = nil
  ) throws(RedisError) {
    let url = try RedisURL(url)
    try self.init(
      url.address, username: url.username, password: url.password, database: url.database,
      connections: connections, deadline: deadline, heartbeat: heartbeat, tracking: tracking,
      stream: stream)
  }

  init(_ settings: RedisSettings) throws(RedisError) {
    let settings = try settings.withStream()
    loop = try RedisLoop(settings.address.isCluster ? settings.ofCluster : settings)
    address = "\(settings.address)"
  }

  deinit { loop.release() }

  /// Fails all commands, those that wait for an answer and later ones, with ``RedisError/closed``.
  public func close() { loop.stop() }

  /// Asks the server for a sign of life on every connection.
  ///
  /// When the outcome succeeds, all earlier commands have been carried out.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func ping() -> Signal<Void> {
    let subject = Promise<Void>()
    afterAllCommands { subject.keep(by: .of($0, from: self)) }
    return subject.outcome
  }

  /// The writes of several steps that have not ended.
  private let unfinished = Locked(Registry<Signal<Void>>())

  /// Lets a flush wait for a write of several steps.
  func track(_ outcome: Signal<Void>) -> Signal<Void> {
    let number = unfinished.withLock { $0.add(outcome) }
    outcome.subscribe { [unfinished] event in
      if event.isTerminal { unfinished.discard { $0.remove(number) } }
    }
    return outcome
  }

  /// Completes when all earlier writes and fills have ended, and the server has carried them out.
  func flush() -> Signal<Void> {
    let running = unfinished.withLock { Array($0.elements) }
    return Signal.merge(running.map { $0.ignoreValues(as: Void.self).recover { _ in .empty } })
      .ifEmpty { self.ping() }.started()
  }

  /// Whether the server reports the changes of other processes at present, so that memory may keep
  /// values.
  public var isTracking: Bool { loop.tracker.isInForce }

  // MARK: Commands

  /// Calls `done` when the commands that were submitted before are carried out, on all servers.
  ///
  /// - Parameter rounds: The most times that all servers are asked, more than a cluster sends a
  ///   command on.
  func afterAllCommands(
    rounds: Int = 20, _ done: @escaping @Sendable (Result<Void, RedisError>) -> Void
  ) {
    loop.start()
    // In this order: what is sent on to a further server meanwhile is noticed.
    let detours = loop.detours
    let nodes = loop.usedNodes
    let answers = CombinedReplies(of: nodes.count) { [loop] result in
      // In a cluster, some of them may have been sent on meanwhile.
      if case .success = result, detours != loop.detours, rounds > 1 {
        return self.afterAllCommands(rounds: rounds - 1, done)
      }
      done(result)
    }
    for node in nodes { node.submit(.command("PING")) { answers.add($0.map { _ in () }) } }
  }

  /// The way to the server of a key.
  func route(of key: RedisKey) -> RedisRoute {
    let slot = loop.isCluster ? ClusterSlot.of(key) : nil
    return RedisRoute(connection: loop.tracker.connection(of: key.key), slot: slot)
  }
}

extension Signal {
  /// Sends the value and completes, or fails.
  static func of(_ result: Result<Value, RedisError>, from redis: Redis) -> Signal {
    switch result {
    case .success(let value): .just(value)
    case .failure(let error): .fail(CacheError(error, of: redis))
    }
  }
}

extension CacheError {
  /// The failure of a layer on a server.
  init(_ error: RedisError, of redis: Redis) {
    if case .notConnected(let remaining, let cause) = error {
      self = .circuitOpen(layer: redis.layerName, remaining: remaining, underlying: cause)
    } else {
      self = .unavailable(layer: redis.layerName, underlying: error)
    }
  }
}
