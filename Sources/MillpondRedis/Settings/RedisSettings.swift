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
}

extension RedisAddress {
  /// The name of the host, or the path.
  var host: String {
    switch self {
    case .tcp(let host, _): host
    case .unix(let path): path
    }
  }
}
