/// Makes the stream of a connection to a host and port.
typealias RedisStreamMaker = @Sendable (_ host: String, _ port: UInt16) -> any RedisStream

/// The settings of a client.
struct RedisSettings: Sendable {
  var address: RedisAddress

  /// The name and password of a user of the server; the default user needs neither.
  var username: String?
  var password: String?
  var database: Int
  var connections: Int
  var tracking: RedisTracking
  var limits: ConnectionLimits
  var replyLimits = RESPLimits()

  /// Makes the streams that take the place of the client's own TCP.
  var stream: RedisStreamMaker?

  /// A random share for each pause.
  var chance: @Sendable () -> Double = { .random(in: 0..<1) }
}

extension RedisSettings {
  /// The commands with which a connection begins; the first two tell of the ``RedisSession``.
  var greeting: [RedisRequest] {
    var hello: [RedisArgument] = ["HELLO", "3"]
    if username != nil || password != nil {
      hello += ["AUTH", .text(username ?? "default"), .text(password ?? "")]
    }
    let select: [RedisRequest] =
      database == 0 ? [] : [.command("SELECT", .number(Int64(database)))]
    return [.command(hello), .command("INFO", "server")] + select
  }

  /// The settings for a cluster: one connection to each primary, whose reports are of all changes.
  var ofCluster: RedisSettings {
    var copy = self
    copy.connections = 1
    if tracking == .byKey { copy.tracking = .byPrefix }
    return copy
  }

  /// Returns the settings with the stream that the address needs: what has to be encrypted is never
  /// sent by the client's own TCP.
  func withStream() throws(RedisError) -> RedisSettings {
    guard address.isEncrypted, stream == nil else { return self }
    guard let stream = Self.systemStream else { throw .noEncryption(address: "\(address)") }
    var copy = self
    copy.stream = stream
    return copy
  }
}
